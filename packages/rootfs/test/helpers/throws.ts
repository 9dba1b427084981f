import { expect } from "vitest";
import { RootfsError, type RootfsErrorCode } from "../../src/errors.js";

/** Runs something that must fail with this code, and gives the error, whose hint must say what to do. */
export async function failure(run: () => unknown, code: RootfsErrorCode): Promise<RootfsError> {
  let caught: unknown;
  try {
    await run();
  } catch (error) {
    caught = error;
  }
  expect(caught, `expected a RootfsError ${code}`).toBeInstanceOf(RootfsError);
  const error = caught as RootfsError;
  expect(error.code, error.message).toBe(code);
  expect(error.hint, "an error says what to do").toBeTruthy();
  return error;
}

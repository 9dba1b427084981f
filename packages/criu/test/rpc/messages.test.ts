import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { criu_req_type, criu_reqSchema, criu_respSchema } from "../../src/gen/rpc_pb.js";
import { decodeResponse, encodeNotifyReply, encodeRequest } from "../../src/rpc/messages.js";

test("a request keeps CRIU's own field numbers on the wire", () => {
  const bytes = encodeRequest({
    type: criu_req_type.DUMP,
    opts: { imagesDirFd: 9, pid: 42, fileLocks: true, ghostLimit: 7 },
  });
  // field 1: type=1 · field 2: opts { 1: 9, 2: 42, 8: true, 35: 7 }
  expect([...bytes]).toEqual([0x08, 1, 0x12, 9, 0x08, 9, 0x10, 42, 0x40, 1, 0x98, 0x02, 7]);
});

test("a notification is answered with success or without", () => {
  expect(fromBinary(criu_reqSchema, encodeNotifyReply(true))).toMatchObject({
    type: criu_req_type.NOTIFY,
    notifySuccess: true,
  });
  expect(fromBinary(criu_reqSchema, encodeNotifyReply(false))).toMatchObject({ notifySuccess: false });
});

test("a response of any size is read", () => {
  const crErrmsg = "x".repeat(100_000);
  const bytes = toBinary(
    criu_respSchema,
    create(criu_respSchema, { type: criu_req_type.DUMP, success: false, crErrmsg }),
  );
  expect(decodeResponse(bytes).crErrmsg).toBe(crErrmsg);
});

test("bytes that are no response are refused", () => {
  expect(() => decodeResponse(Buffer.from([0xff, 0xff]))).toThrowError(
    expect.objectContaining({ code: "RPC_PROTOCOL" }),
  );
});

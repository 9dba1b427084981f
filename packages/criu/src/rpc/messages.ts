import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { CriuError } from "../errors.js";
import {
  type criu_optsSchema,
  criu_req_type,
  criu_reqSchema,
  type criu_resp,
  criu_respSchema,
} from "../gen/rpc_pb.js";

/** Fields of a request as `proto/rpc.proto` names them, in camel case. */
export type CriuRequest = Omit<MessageInitShape<typeof criu_reqSchema>, "opts" | "$typeName" | "$unknown"> & {
  readonly opts?: CriuOptions;
};
/** Fields of a request's options. */
export type CriuOptions = Exclude<MessageInitShape<typeof criu_optsSchema>, { $typeName: string }>;
export type CriuResponse = criu_resp;

/** A request as one packet. */
export function encodeRequest(request: CriuRequest): Buffer {
  return Buffer.from(toBinary(criu_reqSchema, create(criu_reqSchema, request)));
}

/** The answer to a notification. */
export function encodeNotifyReply(success: boolean): Buffer {
  return encodeRequest({ type: criu_req_type.NOTIFY, notifySuccess: success });
}

/** @throws {CriuError} `RPC_PROTOCOL` for a packet that is no response */
export function decodeResponse(packet: Uint8Array): CriuResponse {
  try {
    return fromBinary(criu_respSchema, packet);
  } catch (cause) {
    throw new CriuError("RPC_PROTOCOL", `CRIU sent ${packet.length} bytes that are no criu_resp`, {
      hint: "The program on the socket is not CRIU, or of an unknown version",
      cause,
    });
  }
}

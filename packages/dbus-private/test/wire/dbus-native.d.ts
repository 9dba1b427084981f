// The library has no types for this file; only what the tests call is declared.
declare module "@homebridge/dbus-native/lib/message.js" {
  interface NativeMessage {
    readonly serial: number;
    readonly type?: number;
    readonly path?: string;
    readonly interface?: string;
    readonly member?: string;
    readonly destination?: string;
    readonly errorName?: string;
    readonly replySerial?: number;
    readonly sender?: string;
    readonly signature?: string;
    readonly body?: unknown[];
  }
  const message: {
    marshall(message: NativeMessage): Buffer;
    unmarshall(bytes: Buffer): NativeMessage;
  };
  export default message;
}

import {
  Client,
  type ClientUnaryCall,
  credentials,
  logVerbosity,
  type ServiceError,
  setLogVerbosity,
  status,
} from '@grpc/grpc-js';
import { RECONNECT_FIRST_MS, RECONNECT_LAST_MS, RUNTIME_MESSAGE_BYTES_MAX } from './limits.ts';
import { asRuntimeCallError, RuntimeCallError } from './runtime-call-error.ts';

const CRI_VERSIONS = ['v1', 'v1alpha2'] as const;
export type CriVersion = (typeof CRI_VERSIONS)[number];

/** The response of the runtime, and its version of CRI. */
export interface RuntimeReply<T> {
  readonly criVersion: CriVersion;
  readonly message: T;
}

/** Bytes, or the runtime's message that it does not implement the call in this version. */
type RawAnswer = { readonly bytes: Uint8Array } | { readonly unimplemented: string };

interface Decoder<T> {
  decode(bytes: Uint8Array): T;
}

const OPTIONS = {
  'grpc.max_receive_message_length': RUNTIME_MESSAGE_BYTES_MAX,
  'grpc.max_send_message_length': RUNTIME_MESSAGE_BYTES_MAX,
  'grpc.initial_reconnect_backoff_ms': RECONNECT_FIRST_MS,
  'grpc.max_reconnect_backoff_ms': RECONNECT_LAST_MS,
  // A proxy of the environment must not be used for a socket of this node.
  'grpc.enable_http_proxy': 0,
  // A retry would hide an unhealthy runtime, and double the time.
  'grpc.enable_retries': 0,
  // Connections to the same socket share nothing, so that closing one does not affect another.
  'grpc.use_local_subchannel_pool': 1,
};

// The library must not write to the user's terminal, whatever GRPC_TRACE says.
setLogVerbosity(logVerbosity.NONE);

/** Sends bytes to a runtime and returns its response; detects its version of CRI. */
export class Wire {
  readonly #socket: string;
  readonly #limitMs: number;
  readonly #client: Client;
  readonly #underWay = new Set<ClientUnaryCall>();
  #spoken: CriVersion = 'v1';
  #closed = false;

  constructor(socket: string, limitMs: number) {
    this.#socket = socket;
    this.#limitMs = limitMs;
    this.#client = new Client(`unix://${socket}`, credentials.createInsecure(), OPTIONS);
  }

  /** The time limit holds for all tried versions together. */
  async call<T>(
    method: string,
    encoded: { finish(): Uint8Array },
    response: Decoder<T>,
  ): Promise<RuntimeReply<T>> {
    const source = `CRI ${method}`;
    const request = encoded.finish();
    const until = performance.now() + this.#limitMs;
    // The last working version comes first. The other is tried if that one fails: a newer runtime
    // may have replaced the old one at the same socket.
    let text = '';
    for (const criVersion of this.#spoken === 'v1' ? CRI_VERSIONS : CRI_VERSIONS.toReversed()) {
      const answer = await this.#ask(source, criVersion, method, request, until);
      if ('bytes' in answer) {
        this.#spoken = criVersion;
        return { criVersion, message: decoded(source, answer.bytes, response) };
      }
      text = answer.unimplemented;
    }
    throw new RuntimeCallError(
      'unsupported',
      source,
      `what answers at ${this.#socket} offers this call in neither CRI v1 nor v1alpha2 ` +
        `(containerd with its CRI plug-in disabled answers so too): ${text}`,
    );
  }

  close(): void {
    this.#closed = true;
    for (const call of this.#underWay) call.cancel();
    this.#client.close();
  }

  #ask(
    source: string,
    criVersion: CriVersion,
    method: string,
    request: Uint8Array,
    until: number,
  ): Promise<RawAnswer> {
    if (this.#closed) throw new RuntimeCallError('failed', source, 'the connection is closed');
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
    // gRPC needs a wall-clock time, and the clock may have been set since the call began.
    const deadline = Date.now() + until - performance.now();
    const call = this.#client.makeUnaryRequest(
      `/runtime.${criVersion}.RuntimeService/${method}`,
      (bytes: Uint8Array) => Buffer.from(bytes),
      (bytes: Buffer): Uint8Array => bytes,
      request,
      { deadline },
      (error: ServiceError | null, bytes?: Uint8Array) => {
        this.#underWay.delete(call);
        if (bytes) resolve({ bytes });
        else if (error?.code === status.UNIMPLEMENTED) resolve({ unimplemented: error.details });
        else reject(this.#errorOf(source, error));
      },
    );
    this.#underWay.add(call);
    return promise;
  }

  #errorOf(source: string, error: ServiceError | null): RuntimeCallError {
    if (this.#closed) return new RuntimeCallError('failed', source, 'the connection was closed');
    if (!error) return new RuntimeCallError('malformed', source, 'answered without a message');
    return asRuntimeCallError(error, { source, socket: this.#socket, limitMs: this.#limitMs });
  }
}

function decoded<T>(source: string, bytes: Uint8Array, response: Decoder<T>): T {
  try {
    return response.decode(bytes);
  } catch (cause) {
    const detail = `the answer is no CRI message (${bytes.length} bytes)`;
    throw new RuntimeCallError('malformed', source, detail, { cause });
  }
}

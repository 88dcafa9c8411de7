import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import { CALL_MS } from './limits.ts';

export interface Encoding<T> {
  encode(message: T): { finish(): Uint8Array };
}

export interface Decoding<T> {
  decode(bytes: Uint8Array): T;
}

/** A CRI client that creates pods and containers, as a kubelet does; that of `src` mostly reads. */
export class CriDriver {
  readonly #client: Client;

  constructor(socket: string) {
    this.#client = new Client(`unix://${socket}`, credentials.createInsecure(), {
      'grpc.enable_http_proxy': 0,
      'grpc.initial_reconnect_backoff_ms': 50,
      'grpc.max_reconnect_backoff_ms': 200,
    });
  }

  /** `method` is "v1.RuntimeService/StartContainer". Rejects with the runtime's message. */
  call<Request, Response>(
    method: string,
    [request, response]: readonly [Encoding<Request>, Decoding<Response>],
    message: Request,
    limitMs: number = CALL_MS,
  ): Promise<Response> {
    const { promise, resolve, reject } = Promise.withResolvers<Response>();
    this.#client.makeUnaryRequest(
      `/runtime.${method}`,
      (value: Request) => Buffer.from(request.encode(value).finish()),
      (bytes: Buffer) => response.decode(bytes),
      message,
      { deadline: Date.now() + limitMs },
      (error: ServiceError | null, answer?: Response) => {
        if (answer) resolve(answer);
        else reject(new Error(error?.details ?? 'no answer', { cause: error }));
      },
    );
    return promise;
  }

  close(): void {
    this.#client.close();
  }
}

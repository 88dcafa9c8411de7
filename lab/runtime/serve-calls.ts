import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type sendUnaryData,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';

/** The response to each call, in bytes. */
export type Calls = Readonly<
  Record<string, (request: Buffer, reply: sendUnaryData<Buffer>) => void>
>;

type Stop = () => void;

const AS_IT_IS = (bytes: Buffer): Buffer => bytes;

/** A real gRPC server that serves calls under the name of a service, such as that of CRI v1. */
export async function serveCalls(
  socket: string,
  services: Readonly<Record<string, Calls>>,
): Promise<Stop> {
  const server = new Server();
  for (const [service, calls] of Object.entries(services)) offer(server, service, calls);
  await new Promise<void>((resolve, reject) => {
    server.bindAsync(`unix://${socket}`, ServerCredentials.createInsecure(), (error) =>
      error ? reject(error) : resolve(),
    );
  });
  return () => server.forceShutdown();
}

function offer(server: Server, service: string, calls: Calls): void {
  const definitions: Record<string, MethodDefinition<Buffer, Buffer>> = {};
  const handlers: UntypedServiceImplementation = {};
  for (const [name, answer] of Object.entries(calls)) {
    definitions[name] = {
      path: `/${service}/${name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: AS_IT_IS,
      requestDeserialize: AS_IT_IS,
      responseSerialize: AS_IT_IS,
      responseDeserialize: AS_IT_IS,
    };
    const handler: handleUnaryCall<Buffer, Buffer> = (call, reply) => answer(call.request, reply);
    handlers[name] = handler;
  }
  server.addService(definitions, handlers);
}

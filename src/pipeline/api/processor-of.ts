import { defined } from '../../lib/std/defined.ts';
import type { OperationSpec } from './operation.ts';

/** How to run an Operation, in whichever form it was written. */
export type Processor = { readonly timeoutSeconds: number } & (
  | {
      readonly way: 'http';
      /** Absent: the agent that runs the step. */
      readonly address?: string;
      readonly port?: number;
      readonly path: string;
      readonly scheme: 'http' | 'https';
      /** Certificates in base64. */
      readonly caBundle?: string;
      readonly insecureSkipTLSVerify?: true;
      /** After network errors; absent: as often as upstream KubeDiag does. */
      readonly retries?: number;
    }
  | {
      readonly way: 'script';
      readonly script: string;
      readonly argKeys: readonly string[];
      readonly operationResultKey?: string;
      readonly ignoreExitCode?: true;
    }
  | {
      readonly way: 'function';
      readonly codeSource: Readonly<Record<string, string>>;
      readonly runtime: string;
    }
);

/** The one way to run it; the flat fields of v0.2.0 are a server like any other. */
export function processorOf({ processor }: OperationSpec): Processor {
  const { timeoutSeconds, scriptRunner, function: code } = processor;
  if (scriptRunner) {
    const { script, argKeys = [], operationResultKey: key, ignoreExitCode } = scriptRunner;
    return defined({
      way: 'script',
      timeoutSeconds,
      script,
      argKeys,
      operationResultKey: key || undefined,
      ignoreExitCode: ignoreExitCode || undefined,
    });
  }
  if (code) {
    const { codeSource, runtime } = code;
    return { way: 'function', timeoutSeconds, codeSource, runtime };
  }
  const { address, port, path = '/', scheme = 'http' } = processor.httpServer ?? flat(processor);
  const { caBundle, insecureSkipTLSVerify, retries } = processor.httpServer ?? {};
  return defined({
    way: 'http',
    timeoutSeconds,
    address,
    port,
    path,
    scheme,
    caBundle,
    insecureSkipTLSVerify: insecureSkipTLSVerify || undefined,
    retries,
  });
}

function flat(processor: OperationSpec['processor']) {
  const { externalIP, externalAddress, externalPort: port, path, scheme } = processor;
  return { address: externalIP ?? externalAddress, port, path, scheme };
}

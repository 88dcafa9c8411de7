/**
 * What pure code may use of its platform: all of it exists in browsers and in Node. tsconfig.pure.json
 * compiles with these types and no others, so that nothing else can be used.
 */
declare class TextDecoder {
  constructor(encoding: 'utf-8', options: { ignoreBOM: true });
  decode(bytes: Uint8Array): string;
}

declare class TextEncoder {
  encode(text: string): Uint8Array<ArrayBuffer>;
  encodeInto(text: string, target: Uint8Array): { written: number };
}

declare const performance: { now(): number };

type Timer = number | object;
declare function setTimeout(run: () => void, afterMs: number): Timer;
declare function clearTimeout(timer: Timer): void;
declare function setInterval(run: () => void, eachMs: number): Timer;
declare function clearInterval(timer: Timer): void;

declare const crypto: {
  subtle: { digest(algorithm: 'SHA-256', bytes: Uint8Array): Promise<ArrayBuffer> };
};

interface ByteTransform {
  readonly readable: ReadableStream;
}

declare class CompressionStream implements ByteTransform {
  constructor(format: 'gzip');
  readonly readable: ReadableStream;
}

declare class DecompressionStream implements ByteTransform {
  constructor(format: 'gzip');
  readonly readable: ReadableStream;
}

declare class ReadableStream {
  constructor(source: {
    start(controller: { enqueue(bytes: Uint8Array): void; close(): void }): void;
  });
  pipeThrough(transform: ByteTransform): ReadableStream;
  getReader(): {
    read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: undefined }>;
    cancel(): Promise<void>;
  };
}

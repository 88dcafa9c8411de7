const UTF8 = new TextDecoder('utf-8', { ignoreBOM: true });

/** Bytes as text. What is no UTF-8 becomes U+FFFD. */
export function textOfBytes(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return UTF8.decode(bytes.subarray(start, end));
}

import { textOfBytes } from './utf8.ts';

/** Reads one message in the wire format of protocol buffers, field by field, in the order it has. */
export class Message {
  readonly #bytes: Uint8Array;
  readonly #fail: (why: string) => never;
  #at = 0;
  #field = 0;
  /** What the field holds: a number, or the range of its bytes. */
  #number = 0;
  #content: Uint8Array | undefined;

  constructor(bytes: Uint8Array, fail: (why: string) => never) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  /** The number of the field that was read last. */
  get field(): number {
    return this.#field;
  }

  /** Goes to the next field, whatever it holds; false at the end. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    const key = this.#varint();
    this.#field = Math.floor(key / 8);
    this.#content = undefined;
    switch (key % 8) {
      case 0:
        this.#number = this.#varint();
        break;
      case 1:
        this.#take(8);
        break;
      case 2:
        this.#content = this.#take(this.#varint());
        break;
      case 5:
        this.#take(4);
        break;
      default:
        this.#fail('it is not in the form of protocol buffers');
    }
    return true;
  }

  number(): number {
    return this.#content ? this.#fail('a number was expected') : this.#number;
  }

  /** Of a repeated number: one of them, or all packed together. */
  numbers(): readonly number[] {
    if (!this.#content) return [this.#number];
    const packed = new Message(this.#content, this.#fail);
    const numbers: number[] = [];
    while (packed.#at < packed.#bytes.length) numbers.push(packed.#varint());
    return numbers;
  }

  text(): string {
    return textOfBytes(this.#content ?? this.#fail('a text was expected'));
  }

  message(): Message {
    return new Message(this.#content ?? this.#fail('a message was expected'), this.#fail);
  }

  #take(length: number): Uint8Array {
    const end = this.#at + length;
    if (end > this.#bytes.length) this.#fail('it ends in the middle');
    const taken = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return taken;
  }

  /** As a double: what is larger than 2^53 loses its last digits, which nobody here reads. */
  #varint(): number {
    let value = 0;
    let factor = 1;
    for (let count = 0; count < 10; count += 1) {
      const byte = this.#bytes[this.#at] ?? this.#fail('it ends in the middle');
      this.#at += 1;
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value >= 2 ** 63 ? value - 2 ** 64 : value;
      factor *= 128;
    }
    return this.#fail('a number has too many digits');
  }
}

/** The architecture for which we can write a program, as Node.js names it. */
export const WAITING_PROGRAM_FOR = 'x64';

const LOADED_AT = 0x40_0000n;
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;

/** mov eax, 34 (pause); syscall; jmp to the start: a signal ends the call, not the program. */
const CODE = [0xb8, 34, 0, 0, 0, 0x0f, 0x05, 0xeb, 0xf7];

/**
 * A program for Linux on x86-64 that sleeps until it is killed, written byte by byte: a container
 * needs something to run, and a practice node takes nothing from the network or the machine.
 */
export function waitingProgram(): Uint8Array {
  const start = HEADER_BYTES + SEGMENT_BYTES;
  const bytes = Buffer.alloc(start + CODE.length);
  // ELF header: 64 bits, little-endian, version 1.
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  bytes.writeUInt16LE(2, 16); // ET_EXEC: a fixed load address.
  bytes.writeUInt16LE(62, 18); // EM_X86_64.
  bytes.writeUInt32LE(1, 20);
  bytes.writeBigUInt64LE(LOADED_AT + BigInt(start), 24); // The entry point.
  bytes.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  bytes.writeUInt16LE(HEADER_BYTES, 52);
  bytes.writeUInt16LE(SEGMENT_BYTES, 54);
  bytes.writeUInt16LE(1, 56); // One segment.
  bytes.writeUInt32LE(1, 64); // PT_LOAD: load the whole file.
  bytes.writeUInt32LE(5, 68); // PF_R | PF_X.
  bytes.writeBigUInt64LE(LOADED_AT, 80);
  bytes.writeBigUInt64LE(LOADED_AT, 88);
  bytes.writeBigUInt64LE(BigInt(bytes.length), 96);
  bytes.writeBigUInt64LE(BigInt(bytes.length), 104);
  bytes.writeBigUInt64LE(0x1000n, 112);
  bytes.set(CODE, start);
  return bytes;
}

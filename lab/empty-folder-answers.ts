/**
 * The FUSE responses of a server with an empty directory. Numbers and offsets are those of
 * <linux/fuse.h>, protocol 7.31.
 */
const LOOKUP = 1;
const FORGET = 2;
const GETATTR = 3;
const STATFS = 17;
const INIT = 26;
const OPENDIR = 27;
const READDIR = 28;
const RELEASEDIR = 29;
const INTERRUPT = 36;
const BATCH_FORGET = 42;

const HEADER_BYTES = 16;
const ENOENT = 2;
const ENOSYS = 38;
/** The largest write; the kernel requires a buffer for it. */
const WRITE_BYTES_MAX = 4096;
const FOLDER_MODE = 0o40_755;

/** The first request: until it is answered, the kernel sends no other. */
export function isFirst(request: Buffer): boolean {
  return request.readUInt32LE(4) === INIT;
}

/** Undefined if the kernel expects no response. */
export function answerTo(request: Buffer): Buffer | undefined {
  switch (request.readUInt32LE(4)) {
    case FORGET:
    case BATCH_FORGET:
    case INTERRUPT:
      return undefined;
    case INIT:
      return answer(request, greeting());
    case GETATTR:
      return answer(request, attributes());
    case STATFS:
      return answer(request, space());
    case OPENDIR:
      return answer(request, Buffer.alloc(16));
    case READDIR: // No entries, which also marks the end.
    case RELEASEDIR:
      return answer(request, Buffer.alloc(0));
    case LOOKUP:
      return answer(request, Buffer.alloc(0), ENOENT);
    default:
      return answer(request, Buffer.alloc(0), ENOSYS);
  }
}

function answer(request: Buffer, body: Buffer, error = 0): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(HEADER_BYTES + body.length, 0);
  header.writeInt32LE(-error, 4);
  request.copy(header, 8, 8, 16); // The id of the request.
  return Buffer.concat([header, body]);
}

function greeting(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(WRITE_BYTES_MAX, 20);
  return body;
}

/** Not cached, so that every access asks the server again. */
function attributes(): Buffer {
  const body = Buffer.alloc(104);
  body.writeBigUInt64LE(1n, 16); // The inode of a root.
  body.writeUInt32LE(FOLDER_MODE, 76);
  body.writeUInt32LE(2, 80); // Links.
  body.writeUInt32LE(4096, 96); // Bytes of a block.
  return body;
}

function space(): Buffer {
  const body = Buffer.alloc(80);
  for (const at of [0, 8, 16, 24, 32]) body.writeBigUInt64LE(1_000_000n, at);
  body.writeUInt32LE(4096, 40);
  body.writeUInt32LE(255, 44); // The longest name.
  body.writeUInt32LE(4096, 48);
  return body;
}

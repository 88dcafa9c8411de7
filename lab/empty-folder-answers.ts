/**
 * The words of the FUSE protocol that an empty folder needs: what a file server would send for each
 * request of the kernel. Numbers and places are those of <linux/fuse.h>, protocol 7.31.
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
/** The longest write that is taken; the kernel wants room for it in our buffer. */
const WRITE_BYTES_MAX = 4096;
const FOLDER_MODE = 0o40_755;

/** The first request of all: until it is answered, the kernel holds every other back. */
export function isFirst(request: Buffer): boolean {
  return request.readUInt32LE(4) === INIT;
}

/** Undefined where the kernel expects no answer. */
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
    case READDIR: // No names, which is also the end of them.
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
  request.copy(header, 8, 8, 16); // Which request it answers.
  return Buffer.concat([header, body]);
}

function greeting(): Buffer {
  const body = Buffer.alloc(64);
  body.writeUInt32LE(7, 0);
  body.writeUInt32LE(31, 4);
  body.writeUInt32LE(WRITE_BYTES_MAX, 20);
  return body;
}

/** Valid for no time at all, so that every look at the folder asks the server again. */
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

import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

export const BUSYBOX_IMAGE = 'kubediag.test/busybox:latest';

const run = promisify(execFile);
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** An OCI image archive with nothing in it but BusyBox; run without a command, it sleeps. */
export async function busyboxImage(busybox: string): Promise<Buffer> {
  const applets = (await run(busybox, ['--list'])).stdout.trim().split('\n');
  const layer = tar([
    { name: 'bin/busybox', mode: 0o755, content: await readFile(busybox) },
    ...applets
      .filter((name) => name !== 'busybox')
      .map((applet) => ({ name: `bin/${applet}`, mode: 0o777, link: 'busybox' })),
  ]);
  const config = json({
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: 'linux',
    config: { Env: ['PATH=/bin'], Cmd: ['/bin/sleep', '1000000'] },
    rootfs: { type: 'layers', diff_ids: [digest(layer)] },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: descriptor('application/vnd.oci.image.config.v1+json', config),
    layers: [descriptor('application/vnd.oci.image.layer.v1.tar', layer)],
  });
  const index = json({
    schemaVersion: 2,
    manifests: [
      {
        ...descriptor('application/vnd.oci.image.manifest.v1+json', manifest),
        annotations: { 'io.containerd.image.name': BUSYBOX_IMAGE },
      },
    ],
  });
  return tar([
    { name: 'oci-layout', mode: 0o644, content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', mode: 0o644, content: index },
    ...[layer, config, manifest].map((content) => ({
      name: `blobs/sha256/${digest(content).slice('sha256:'.length)}`,
      mode: 0o644,
      content,
    })),
  ]);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function digest(content: Buffer): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function descriptor(mediaType: string, content: Buffer): object {
  return { mediaType, digest: digest(content), size: content.length };
}

type TarEntry = { readonly name: string; readonly mode: number } & (
  | { readonly content: Buffer }
  | { readonly link: string }
);

const TAR_BLOCK_BYTES = 512;

function tar(entries: readonly TarEntry[]): Buffer {
  const blocks = entries.flatMap((entry) => {
    const content = 'content' in entry ? entry.content : Buffer.alloc(0);
    const padding = Buffer.alloc(-content.length & (TAR_BLOCK_BYTES - 1));
    return [tarHeader(entry, content.length), content, padding];
  });
  return Buffer.concat([...blocks, Buffer.alloc(2 * TAR_BLOCK_BYTES)]);
}

/** One header of the ustar format; every number is octal text, closed by a zero. */
function tarHeader(entry: TarEntry, sizeBytes: number): Buffer {
  const header = Buffer.alloc(TAR_BLOCK_BYTES);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, '0');
  header.write(entry.name, 0);
  header.write(octal(entry.mode, 7), 100);
  header.write(octal(0, 7), 108);
  header.write(octal(0, 7), 116);
  header.write(octal(sizeBytes, 11), 124);
  header.write(octal(0, 11), 136);
  header.write('link' in entry ? '2' : '0', 156);
  if ('link' in entry) header.write(entry.link, 157);
  header.write('ustar\x0000', 257);
  // The sum is taken with its own field full of spaces.
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${octal(sum, 6)}\0 `, 148);
  return header;
}

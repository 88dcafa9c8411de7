import { createHash } from 'node:crypto';
import { type WrittenEntry, writeTar } from '../../src/lib/std/tar.ts';

export interface ImageOptions {
  /** All names of the image; nothing is pulled by them. */
  readonly names: readonly string[];
  readonly files: readonly WrittenEntry[];
  /** The default command of a container. */
  readonly command: readonly string[];
  readonly environment?: readonly string[];
}

/** The names of image formats by those of Node.js. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** An OCI image archive with only these files, reproducible byte for byte. */
export function imageArchive({
  names,
  files,
  command,
  environment = [],
}: ImageOptions): Uint8Array {
  const layer = writeTar(files);
  const config = json({
    architecture: ARCHITECTURES[process.arch] ?? process.arch,
    os: 'linux',
    config: { Env: environment, Cmd: command },
    rootfs: { type: 'layers', diff_ids: [digest(layer)] },
  });
  const manifest = json({
    schemaVersion: 2,
    mediaType: MANIFEST,
    config: descriptor(CONFIG, config),
    layers: [descriptor(LAYER, layer)],
  });
  const manifests = names.map((name) => ({
    ...descriptor(MANIFEST, manifest),
    annotations: { 'io.containerd.image.name': name },
  }));
  return writeTar([
    { name: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }) },
    { name: 'index.json', content: json({ schemaVersion: 2, manifests }) },
    ...[layer, config, manifest].map((content) => ({
      name: `blobs/sha256/${digest(content).slice('sha256:'.length)}`,
      content,
    })),
  ]);
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function digest(content: Uint8Array): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

function descriptor(mediaType: string, content: Uint8Array): object {
  return { mediaType, digest: digest(content), size: content.length };
}

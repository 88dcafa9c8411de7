import { createHash } from 'node:crypto';
import { type WrittenEntry, writeTar } from '../../src/lib/std/tar.ts';

export interface ImageOptions {
  /** One image has all these names; nothing is fetched by any of them. */
  readonly names: readonly string[];
  readonly files: readonly WrittenEntry[];
  /** What runs in a container that says nothing else. */
  readonly command: readonly string[];
  readonly environment?: readonly string[];
}

/** As image formats call them. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar';
const MANIFEST = 'application/vnd.oci.image.manifest.v1+json';

/** An OCI image archive of these files alone, the same bytes each time. */
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

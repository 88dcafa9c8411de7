import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { imageArchive } from '../../lab/runtime/image-archive.ts';

export const BUSYBOX_IMAGE = 'kubediag.test/busybox:latest';

const run = promisify(execFile);

/** An OCI image archive with nothing in it but BusyBox; run without a command, it sleeps. */
export async function busyboxImage(busybox: string): Promise<Uint8Array> {
  const applets = (await run(busybox, ['--list'])).stdout.trim().split('\n');
  const links = applets
    .filter((name) => name !== 'busybox')
    .map((applet) => ({
      name: `bin/${applet}`,
      mode: 0o777,
      linkTo: 'busybox',
      content: new Uint8Array(),
    }));
  return imageArchive({
    names: [BUSYBOX_IMAGE],
    files: [{ name: 'bin/busybox', mode: 0o755, content: await readFile(busybox) }, ...links],
    command: ['/bin/sleep', '1000000'],
    environment: ['PATH=/bin'],
  });
}

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { VersionRequest, VersionResponse } from '../../src/lib/cri/generated/cri.ts';
import { startDaemon } from '../../src/lib/process/daemon.ts';
import { PLAIN_ENVIRONMENT, runProgram } from '../../src/lib/process/run.ts';
import { defined } from '../../src/lib/std/defined.ts';
import { messageOf } from '../../src/lib/std/message-of.ts';
import { PLACES } from '../places.ts';
import { IMAGE_NAMES } from '../practice-node.ts';
import type { RuntimeChoice } from '../settings.ts';
import { until } from '../until.ts';
import { containerdConfig } from './containerd-config.ts';
import { CriDriver } from './cri-driver.ts';
import { ImageStatusRequest, ImageStatusResponse } from './generated/cri-drive.ts';
import { imageArchive } from './image-archive.ts';
import {
  CALL_MS,
  CONTAINERD_ASK_MS,
  CONTAINERD_READY_MS,
  LOG_LINES_SHOWN,
  OUTPUT_BYTES_MAX,
} from './limits.ts';
import { waitingProgram } from './waiting-program.ts';

export type ContainerdChoice = Extract<RuntimeChoice, { readonly kind: 'containerd' }>;

const HOME = '/var/lib/containerd';
const STATE = '/run/containerd';
const LOG = '/var/log/containerd.log';

/**
 * Starts a real containerd on this practice node, with the image of a program that sleeps, and
 * returns when it can run it. It outlives this process.
 */
export async function startContainerd(
  { containerd, runc }: ContainerdChoice,
  libraries?: string,
): Promise<void> {
  // Its shim and other programs that it starts are in the same directory.
  const path = [dirname(containerd), dirname(runc), PLAIN_ENVIRONMENT.PATH].join(':');
  const environment = defined({ ...PLAIN_ENVIRONMENT, PATH: path, LD_LIBRARY_PATH: libraries });
  const config = join(PLACES.lab, 'containerd.toml');
  const places = { home: HOME, state: STATE, socket: PLACES.runtimeSocket, runc };
  for (const folder of [PLACES.lab, HOME, STATE]) await mkdir(folder, { recursive: true });
  await writeFile(config, containerdConfig({ ...places, sandboxImage: IMAGE_NAMES.program }));
  const start = await startDaemon({
    program: containerd,
    arguments: ['-c', config],
    environment,
    logFile: LOG,
    deadlineMs: CONTAINERD_READY_MS,
    manner: 'silent',
  });
  if (!start.started) throw new Error(`${containerd} could not be started: ${start.why}`);
  const driver = new CriDriver(PLACES.runtimeSocket);
  await setUp(driver, join(dirname(containerd), 'ctr'), environment).finally(() => driver.close());
}

async function setUp(
  driver: CriDriver,
  ctr: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  await untilReady('containerd answers', async () => {
    const types = [VersionRequest, VersionResponse] as const;
    await driver.call('v1.RuntimeService/Version', types, { version: '' }, CONTAINERD_ASK_MS);
    return true;
  });
  await importImage(ctr, environment);
  // CRI learns of an image by an event, and would try to pull it before that.
  for (const image of Object.values(IMAGE_NAMES)) {
    await untilReady(`containerd knows the image ${image}`, async () => {
      const types = [ImageStatusRequest, ImageStatusResponse] as const;
      const asked = { image: { image } };
      const answer = await driver.call('v1.ImageService/ImageStatus', types, asked);
      return answer.image !== undefined;
    });
  }
}

async function importImage(
  ctr: string,
  environment: Readonly<Record<string, string>>,
): Promise<void> {
  const archive = join(HOME, 'practice-image.tar');
  const files = [{ name: 'bin/wait', mode: 0o755, content: waitingProgram() }];
  const names = Object.values(IMAGE_NAMES);
  await writeFile(archive, imageArchive({ names, files, command: ['/bin/wait'] }));
  const ended = await runProgram({
    program: ctr,
    arguments: [
      ...['--address', PLACES.runtimeSocket, '-n', 'k8s.io'],
      ...['images', 'import', '--snapshotter', 'native', archive],
    ],
    environment,
    deadlineMs: CALL_MS,
    outputBytesMax: OUTPUT_BYTES_MAX,
  });
  if (ended.ended === 'exit' && ended.code === 0) return;
  const why = 'stderr' in ended ? ended.stderr.trim() : ended.why;
  throw new Error(`containerd did not take the image of the practice node (${ctr}): ${why}`);
}

/** Retries a call that fails: containerd may not be ready yet. */
async function untilReady(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const isSoByNow = () => isSo().catch(() => false);
  await until(what, isSoByNow, CONTAINERD_READY_MS).catch(async (error: unknown) => {
    const log = (await readFile(LOG, 'utf8')).trimEnd().split('\n').slice(-LOG_LINES_SHOWN);
    throw new Error(`${messageOf(error)}; its log ends: ${log.join('\n')}`);
  });
}

import { mkdirSync, writeFileSync } from 'node:fs';
import type { Break, Expected } from '../break.ts';
import type { PracticeNode } from '../practice-node.ts';
import type { LabSettings } from '../settings.ts';
import { processChanges } from './container-changes.ts';
import { HABITS, lacks, notWithReal, setCollects } from './kubelet-habits.ts';
import {
  BROKER,
  BY_CRICTL,
  type Fate,
  INSTALLATION,
  makeUnmanaged,
  OLD_BROKER,
  UNMANAGED,
  type UnmanagedContainer,
  untilStuckAt,
  whyBinIsSafe,
} from './unmanaged-container.ts';
import { faultsOf, type Variant } from './variants.ts';

const cannotDamage = (settings: LabSettings) =>
  lacks(HABITS.removesByPattern)(settings) ?? whyBinIsSafe();

const collectsAtOnce = notWithReal(
  'a real kubelet kills and collects what it does not know within seconds',
);

/** The changes by a removal: the container, its sandbox, and their processes. */
function removed(
  made: readonly UnmanagedContainer[],
  ...more: readonly string[]
): Pick<Expected, 'must' | 'changes'> {
  const must = made.flatMap(({ pod: { namespace, name } }) => [
    `- container ${namespace}/${name} `,
    `- pod ${namespace}/${name} `,
  ]);
  return {
    must: [...must, ...more],
    changes: made.flatMap(({ pod }) => processChanges('-', pod.uid)),
  };
}

/** The repair also restores /bin. */
const BIN_RESTORED = '+ file /bin link to usr/bin';

/** A file of a user that sorts before /bin. */
const FOLDER = 'archive';

const DAMAGED: Expected = { verdict: 'found', state: 'damaged', repair: 'done' };

/** The kubelet removes containers: it deletes /bin, and then fails at /boot every time. */
const collected: readonly Variant[] = [
  {
    variant: 'broker-damaged',
    about:
      "keadm's broker exited without a log path, and the kubelet deletes /bin instead of its log",
    tour: {
      title: 'The kubelet that deletes /bin',
      story:
        'An installer creates a container without the kubelet and without a log path. After it has ' +
        'exited, the kubelet removes it, and to remove its logs deletes everything that matches "*" in ' +
        'its own working directory: /. The first entry to go is /bin, and nobody can log in any more.',
    },
    leftOut: cannotDamage,
    expected: { ...DAMAGED, ...removed([BROKER], BIN_RESTORED) },
    make: (node) => collectOf(node, [BROKER], 'boot'),
  },
  {
    variant: 'two-damaged',
    about: 'two containers of different products exited without a log path, and /bin is gone',
    leftOut: cannotDamage,
    expected: { ...DAMAGED, ...removed([INSTALLATION, UNMANAGED], BIN_RESTORED) },
    make: (node) => collectOf(node, [INSTALLATION, UNMANAGED], 'boot'),
  },
  {
    variant: 'active',
    about:
      'the kubelet deletes a file in / for such a container, and stops at a directory before /bin',
    expected: { ...DAMAGED, state: 'active', ...removed([UNMANAGED]) },
    make: async (node) => {
      mkdirSync(`/${FOLDER}`);
      writeFileSync(`/${FOLDER}/2019.tar`, 'what stops it\n');
      writeFileSync('/.autorelabel', '');
      await collectOf(node, [UNMANAGED], FOLDER);
    },
  },
];

async function collectOf(
  node: PracticeNode,
  made: readonly UnmanagedContainer[],
  stuckAt: string,
): Promise<void> {
  setCollects(node, false);
  for (const each of made) await makeUnmanaged(node, each, 'exited');
  setCollects(node, true);
  await untilStuckAt(node, stuckAt);
}

interface Waiting {
  readonly variant: string;
  readonly about: string;
  readonly made: UnmanagedContainer;
  readonly fate: Fate;
  readonly repair: 'done' | 'refused';
  /** A running container is removed only with a confirmation. */
  readonly confirm?: boolean;
}

/** Garbage collection has not run yet: the container can be removed in time. */
const WAITING: readonly Waiting[] = [
  {
    variant: 'broker-latent',
    about: "keadm's broker exited without a log path, and is not removed yet",
    ...{ made: OLD_BROKER, fate: 'exited', repair: 'done' },
  },
  {
    variant: 'broker-running',
    about: "keadm's broker runs without a log path: its removal needs a confirmation",
    ...{ made: BROKER, fate: 'running', repair: 'done', confirm: true },
  },
  {
    variant: 'broker-unconfirmed',
    about: "keadm's broker runs without a log path, and nobody confirms its removal",
    ...{ made: BROKER, fate: 'running', repair: 'refused' },
  },
  {
    variant: 'installation-latent',
    about: 'keadm was killed while it copied files, and its container exited without a log path',
    ...{ made: INSTALLATION, fate: 'exited', repair: 'done' },
  },
  {
    variant: 'installation-running',
    about: 'keadm was killed while it copied files, and its container runs without a log path',
    ...{ made: INSTALLATION, fate: 'running', repair: 'done', confirm: true },
  },
  {
    variant: 'crictl-created',
    about: "a container from crictl's example was created without a log path and never started",
    ...{ made: BY_CRICTL, fate: 'created', repair: 'done' },
  },
  {
    variant: 'stranger-running',
    about: 'a container of unknown origin runs without a log path: it may be in use',
    ...{ made: UNMANAGED, fate: 'running', repair: 'refused' },
  },
];

function waiting({ variant, about, made, fate, repair, confirm }: Waiting): Variant {
  return {
    ...{ variant, about },
    expected: {
      verdict: 'found',
      state: 'latent',
      repair,
      recoverWith: ['--latent', ...(confirm ? ['--confirm', 'CONTAINER'] : [])],
      ...(repair === 'done' ? removed([made]) : {}),
    },
    leftOut: collectsAtOnce,
    make: async (node) => {
      setCollects(node, false);
      await makeUnmanaged(node, made, fate);
    },
  };
}

const ofKnownPod: Variant = {
  variant: 'known-pod',
  about: 'a container in a pod of the kubelet has no log path: the runtime must have lost it',
  expected: { verdict: 'found', state: 'latent', repair: 'refused', recoverWith: ['--latent'] },
  leftOut: collectsAtOnce,
  make: async (node) => {
    setCollects(node, false);
    const [pod] = await node.pods();
    if (pod?.metadata.uid === undefined) throw new Error('the kubelet lists no pod');
    const { name, namespace, uid } = pod.metadata;
    const again = { pod: { name, namespace, uid, attempt: 1 }, container: { name: 'lost' } };
    await makeUnmanaged(node, again, 'exited');
  },
};

const ofOldKubelet: Variant = {
  variant: 'old-kubelet-benign',
  kubelet: HABITS.removesTheLogPath,
  about: "keadm's broker exited without a log path, under a kubelet that deletes nothing for it",
  expected: { verdict: 'clear', state: 'benign', repair: 'none' },
  leftOut: collectsAtOnce,
  make: async (node) => {
    setCollects(node, false);
    await makeUnmanaged(node, BROKER, 'exited');
  },
};

export const containerWithoutLogPath: readonly Break[] = faultsOf(
  'container-without-log-path',
  [...collected, ...WAITING.map(waiting), ofKnownPod, ofOldKubelet].map((each) => ({
    kubelet: HABITS.removesByPattern,
    ...each,
  })),
);

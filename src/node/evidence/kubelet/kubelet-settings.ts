import { attempt } from '../../model/evidence.ts';
import { type NodeReader, ReadError } from '../../model/node-reader.ts';
import { CONFIG_FILES_MAX } from '../limits.ts';
import { flagValue, flagValues } from '../processes/command-line.ts';
import { absolutePath, unlessMissing } from '../text/file-path.ts';
import {
  flagSettings,
  KUBELET_FLAGS,
  type KubeletSettings,
  overlaid,
  parseArgumentsFile,
  parseEdgecoreConfig,
  parseK3sConfig,
  parseKubeletConfig,
} from './kubelet-config.ts';
import type { KubeletProcess } from './kubelet-process.ts';

/** The settings of a running kubelet, and what we could not read. */
export interface KubeletArguments extends KubeletSettings {
  /** What sets the root: a command line or a file. */
  readonly rootOrigin?: string | undefined;
  /** Roots to try if none is set. */
  readonly defaultRoots: readonly string[];
  readonly readOnlyPort: number;
  readonly securePort: number;
  readonly unknowns: readonly string[];
}

interface Asking {
  readonly node: NodeReader;
  readonly process: KubeletProcess;
  readonly workingFolder: string;
}

const DEFAULT_ROOT = '/var/lib/kubelet';
const SECURE_PORT = 10_250;
const READ_ONLY_PORT = 10_255;

export async function kubeletArguments(asking: Asking): Promise<KubeletArguments> {
  switch (asking.process.program) {
    case 'edgecore':
      return edgecoreSettings(asking);
    case 'k3s':
      return k3sSettings(asking);
    case 'kubelite':
      return kubeliteSettings(asking);
    default:
      return kubeletSettings(asking, asking.process.words, commandLineOf(asking));
  }
}

/**
 * Flags take precedence over the file. Only a flag can set the root, so an unreadable file only
 * adds an unknown. `openPort` is the default read-only port of this program.
 */
async function kubeletSettings(
  asking: Asking,
  words: readonly string[],
  origin: string,
  openPort = READ_ONLY_PORT,
): Promise<KubeletArguments> {
  const flags = flagSettings(words, origin);
  const fromFiles = await attempt(fileSettings(asking, words));
  const file = fromFiles.known ? fromFiles.value : undefined;
  const hasFile = !fromFiles.known || file !== undefined;
  const settings = overlaid(file ?? {}, flags);
  return {
    ...settings,
    rootOrigin: flags.root === undefined ? undefined : origin,
    defaultRoots: [DEFAULT_ROOT],
    securePort: settings.securePort ?? SECURE_PORT,
    // Without a file, a kubelet opens this port by default; with a file, it does not.
    readOnlyPort: settings.readOnlyPort ?? (hasFile ? 0 : openPort),
    unknowns: fromFiles.known ? [] : [fromFiles.why],
  };
}

/** Undefined if there is no configuration file. */
async function fileSettings(
  asking: Asking,
  words: readonly string[],
): Promise<KubeletSettings | undefined> {
  const path = flagValue(words, KUBELET_FLAGS.config);
  const folder = flagValue(words, KUBELET_FLAGS.configFolder);
  if (!path && !folder) return undefined;
  const paths = path ? [viewOf(asking, path)] : [];
  if (folder) paths.push(...(await filesIn(asking, folder, '.conf')));
  let settings: KubeletSettings = {};
  for (const file of paths) {
    const text = await asking.node.ask('file', { path: file });
    settings = overlaid(settings, parseKubeletConfig(text, file));
  }
  return settings;
}

const NO_ARGUMENTS_FILE = 'kubelite without --kubelet-args-file; name the root with --kubelet-root';

/** microk8s stores the kubelet flags in a file. */
async function kubeliteSettings(asking: Asking): Promise<KubeletArguments> {
  const path = flagValue(asking.process.words, 'kubelet-args-file');
  if (!path) throw new ReadError('unsupported', commandLineOf(asking), NO_ARGUMENTS_FILE);
  const origin = viewOf(asking, path);
  const words = parseArgumentsFile(await asking.node.ask('file', { path: origin }), path);
  return kubeletSettings(asking, words, origin);
}

const K3S_CONFIG = '/etc/rancher/k3s/config.yaml';
const K3S_STATIC_PODS = '/var/lib/rancher/k3s/agent/pod-manifests';
const K3S_SOCKET = '/run/k3s/containerd/containerd.sock';

/** k3s hides its command line, so most settings of its kubelet come from its files. */
async function k3sSettings(asking: Asking): Promise<KubeletArguments> {
  const { words } = asking.process;
  const path = flagValue(words, 'config', 'c') ?? K3S_CONFIG;
  const file = viewOf(asking, path);
  const fileText: string[] = [];
  for (const name of [file, ...(await filesIn(asking, `${path}.d`, '.yaml', '.yml'))]) {
    const text = await unlessMissing(asking.node.ask('file', { path: name }));
    if (text !== undefined) fileText.push(...parseK3sConfig(text, name));
  }
  const all = [...fileText, ...words];
  const kubeletWords = flagValues(all, 'kubelet-arg').map((argument) => `--${argument}`);
  const fromFile = flagValues(fileText, 'kubelet-arg').some(isRoot);
  const fromCommandLine = flagValues(words, 'kubelet-arg').some(isRoot);
  const origin = fromFile && !fromCommandLine ? file : commandLineOf(asking);
  const reported = await kubeletSettings(asking, kubeletWords, origin, 0);
  return {
    ...reported,
    runtimeEndpoint:
      flagValue(all, KUBELET_FLAGS.runtimeEndpoint) || reported.runtimeEndpoint || K3S_SOCKET,
    nodeName: flagValue(all, 'node-name') ?? reported.nodeName,
    staticPodPath: reported.staticPodPath ?? K3S_STATIC_PODS,
    // k3s turns its own setting into a flag unless it is empty. A kubelet argument takes
    // precedence.
    resolvConf:
      flagValue(kubeletWords, KUBELET_FLAGS.resolvConf) ??
      (flagValue(all, KUBELET_FLAGS.resolvConf) || reported.resolvConf),
    // k3s sets cluster.local by default.
    hasClusterDomain: reported.hasClusterDomain ?? true,
  };
}

function isRoot(argument: string): boolean {
  return argument.startsWith(`${KUBELET_FLAGS.root}=`);
}

const EDGECORE_CONFIG = '/etc/kubeedge/config/edgecore.yaml';
const EDGECORE_PORT = 10_350;
const EDGECORE_FIRST_ROOT = '/var/lib/edged';

/** Only the file sets the root: if the file cannot be read, the root is not known. */
async function edgecoreSettings(asking: Asking): Promise<KubeletArguments> {
  const file = viewOf(asking, flagValue(asking.process.words, 'config') ?? EDGECORE_CONFIG);
  const { isFirstFormat, ...settings } = parseEdgecoreConfig(
    await asking.node.ask('file', { path: file }),
    file,
  );
  return {
    ...settings,
    rootOrigin: settings.root === undefined ? undefined : file,
    // KubeEdge 1.20 changed the default.
    defaultRoots: isFirstFormat ? [EDGECORE_FIRST_ROOT] : [EDGECORE_FIRST_ROOT, DEFAULT_ROOT],
    readOnlyPort: settings.readOnlyPort ?? EDGECORE_PORT,
    securePort: settings.securePort ?? 0,
    unknowns: [],
  };
}

/** The files of a directory in the order of precedence; none if the directory does not exist. */
async function filesIn(
  asking: Asking,
  folder: string,
  ...endings: readonly string[]
): Promise<readonly string[]> {
  const path = viewOf(asking, folder);
  const names = (await unlessMissing(asking.node.ask('folder', { path }))) ?? [];
  const files = names.filter((name) => endings.some((ending) => name.endsWith(ending)));
  if (files.length > CONFIG_FILES_MAX) throw new ReadError('too-large', path);
  return files.toSorted().map((name) => `${path}/${name}`);
}

/** The path of a file in the kubelet's root, which may differ from ours. */
function viewOf({ process, workingFolder }: Asking, path: string): string {
  return `/proc/${process.pid}/root${absolutePath(path, workingFolder)}`;
}

function commandLineOf({ process }: Asking): string {
  return `/proc/${process.pid}/cmdline`;
}

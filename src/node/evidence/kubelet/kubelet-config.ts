import { defined } from '../../../lib/std/defined.ts';
import { fieldAt, isObject, textAt } from '../../../lib/std/json.ts';
import { ReadError } from '../../model/node-reader.ts';
import { CONFIG_CHARACTERS_MAX } from '../limits.ts';
import { flagValue } from '../processes/command-line.ts';
import { yamlValue } from '../text/yaml-value.ts';

/** The settings of a kubelet, from flags or a file. Unset fields are absent. */
export interface KubeletSettings {
  readonly root?: string | undefined;
  readonly runtimeEndpoint?: string | undefined;
  readonly securePort?: number | undefined;
  readonly readOnlyPort?: number | undefined;
  readonly address?: string | undefined;
  readonly nodeName?: string | undefined;
  /** The directory or the file of static pods. */
  readonly staticPodPath?: string | undefined;
  /** The kubelet also reads static pods from a URL, which we neither request nor store. */
  readonly hasStaticPodUrl?: boolean | undefined;
  /** The resolv.conf that pods inherit; empty if they inherit none. */
  readonly resolvConf?: string | undefined;
  /** The domain is private, so only its presence is recorded. */
  readonly hasClusterDomain?: boolean | undefined;
}

/** The keys of configuration files that we read. A bundle contains only their values. */
export const CONFIG_KEYS: ReadonlySet<string> = new Set([
  'apiVersion',
  'kind',
  'address',
  'port',
  'readOnlyPort',
  'containerRuntimeEndpoint',
  'remoteRuntimeEndpoint',
  'rootDirectory',
  'hostnameOverride',
  'container-runtime-endpoint',
  'node-name',
  'staticPodPath',
  'resolvConf',
  'resolv-conf', // A key of k3s.
  'uid', // A key of a static pod.
]);

export const KUBELET_FLAGS = {
  root: 'root-dir',
  runtimeEndpoint: 'container-runtime-endpoint',
  securePort: 'port',
  readOnlyPort: 'read-only-port',
  address: 'address',
  nodeName: 'hostname-override',
  staticPodPath: 'pod-manifest-path',
  resolvConf: 'resolv-conf',
  config: 'config',
  configFolder: 'config-dir',
} as const;

/** Not among the keys above, whose values a bundle contains: a URL may contain a secret. */
const STATIC_POD_URL_FLAG = 'manifest-url';

export function flagSettings(args: readonly string[], source: string): KubeletSettings {
  return {
    root: nonEmpty(flagValue(args, KUBELET_FLAGS.root)),
    runtimeEndpoint: nonEmpty(flagValue(args, KUBELET_FLAGS.runtimeEndpoint)),
    securePort: portOf(flagValue(args, KUBELET_FLAGS.securePort), source),
    readOnlyPort: portOf(flagValue(args, KUBELET_FLAGS.readOnlyPort), source),
    address: nonEmpty(flagValue(args, KUBELET_FLAGS.address)),
    nodeName: nonEmpty(flagValue(args, KUBELET_FLAGS.nodeName)),
    staticPodPath: nonEmpty(flagValue(args, KUBELET_FLAGS.staticPodPath)),
    hasStaticPodUrl: isReported(flagValue(args, STATIC_POD_URL_FLAG)),
    resolvConf: flagValue(args, KUBELET_FLAGS.resolvConf),
    hasClusterDomain: isReported(flagValue(args, 'cluster-domain')),
  };
}

/** A KubeletConfiguration in YAML or JSON. It cannot set the root; only a flag can. */
export function parseKubeletConfig(text: string, source: string): KubeletSettings {
  return kubeletConfiguration(parseMapping(text, source), source);
}

/**
 * The configuration of KubeEdge's edgecore. Since KubeEdge 1.12 the kubelet flags are keys of
 * "edged", and the KubeletConfiguration is in "tailoredKubeletConfig".
 */
export function parseEdgecoreConfig(
  text: string,
  source: string,
): KubeletSettings & { readonly isFirstFormat: boolean } {
  const file = parseMapping(text, source);
  const edged = fieldAt(file, 'modules', 'edged');
  const inside = kubeletConfiguration(fieldAt(edged, 'tailoredKubeletConfig'), source);
  const first = (key: string) =>
    nonEmpty(fieldAt(edged, key)) ?? nonEmpty(fieldAt(edged, 'tailoredKubeletFlag', key));
  return {
    ...inside,
    // edgecore.config.kubeedge.io/v1alpha1
    isFirstFormat: String(fieldAt(file, 'apiVersion')).endsWith('/v1alpha1'),
    root: first('rootDirectory'),
    runtimeEndpoint:
      inside.runtimeEndpoint ?? first('containerRuntimeEndpoint') ?? first('remoteRuntimeEndpoint'),
    nodeName: first('hostnameOverride'),
  };
}

/** The configuration of k3s: its flags as keys, and the kubelet flags as a list of "flag=value". */
export function parseK3sConfig(text: string, source: string): readonly string[] {
  const file = parseMapping(text, source);
  const args = [...textsAt(file, 'kubelet-arg'), ...textsAt(file, 'kubelet-arg+')].map(
    (argument) => `--kubelet-arg=${argument}`,
  );
  for (const key of ['container-runtime-endpoint', 'node-name', 'resolv-conf']) {
    const value = nonEmpty(fieldAt(file, key));
    if (value !== undefined) args.push(`--${key}=${value}`);
  }
  return args;
}

// /var/snap/microk8s/5891/args/kubelet
const SNAP_FILE = /^\/var\/snap\/([^/]+)\/([^/]+)\//;

// --root-dir=${SNAP_COMMON}/var/lib/kubelet
const VARIABLE = /\$\{([A-Z_]+)\}|\$([A-Z_]+)/g;

/**
 * The arguments of microk8s, one or more on a line, with snap variables. An unknown variable is not
 * expanded.
 */
export function parseArgumentsFile(text: string, path: string): readonly string[] {
  if (text.length > CONFIG_CHARACTERS_MAX) throw new ReadError('too-large', path);
  const [, snap, revision] = SNAP_FILE.exec(path) ?? [];
  const variables: Readonly<Record<string, string>> =
    snap === undefined
      ? {}
      : {
          SNAP: `/snap/${snap}/${revision}`,
          SNAP_DATA: `/var/snap/${snap}/${revision}`,
          SNAP_COMMON: `/var/snap/${snap}/common`,
        };
  return text
    .split('\n')
    .filter((line) => !line.trimStart().startsWith('#'))
    .flatMap((line) => line.split(/\s+/))
    .filter((word) => word !== '')
    .map((word) =>
      word.replace(VARIABLE, (all, braced?: string, bare?: string) => {
        return variables[braced ?? bare ?? ''] ?? all;
      }),
    );
}

function parseMapping(text: string, source: string): object {
  // These errors do not quote the text: it may contain secrets.
  if (text.length > CONFIG_CHARACTERS_MAX) throw new ReadError('too-large', source);
  const parsed = yamlValue(text);
  if (!parsed) throw new ReadError('malformed', source, 'it is neither valid YAML nor JSON');
  const value = parsed.value ?? {};
  if (!isObject(value)) throw new ReadError('malformed', source, 'it holds no settings');
  return value;
}

function kubeletConfiguration(file: unknown, source: string): KubeletSettings {
  return {
    runtimeEndpoint: nonEmpty(fieldAt(file, 'containerRuntimeEndpoint')),
    securePort: portOf(fieldAt(file, 'port'), source),
    readOnlyPort: portOf(fieldAt(file, 'readOnlyPort'), source),
    address: nonEmpty(fieldAt(file, 'address')),
    staticPodPath: nonEmpty(fieldAt(file, 'staticPodPath')),
    hasStaticPodUrl: isReported(fieldAt(file, 'staticPodURL')),
    resolvConf: textAt(file, 'resolvConf'),
    hasClusterDomain: isReported(fieldAt(file, 'clusterDomain')),
  };
}

/** Settings in `above` take precedence over settings in `below`. */
export function overlaid(below: KubeletSettings, above: KubeletSettings): KubeletSettings {
  return { ...below, ...defined(above) };
}

function textsAt(file: object, key: string): readonly string[] {
  return [fieldAt(file, key)].flat().filter((item) => typeof item === 'string');
}

function nonEmpty(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Undefined if not set. An empty value resets an earlier one. */
function isReported(value: unknown): boolean | undefined {
  return typeof value === 'string' ? value !== '' : undefined;
}

const PORT_MAX = 65_535;

function portOf(value: unknown, source: string): number | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  const port = typeof value === 'string' ? Number(value) : value;
  const isPort = typeof port === 'number' && Number.isInteger(port);
  if (isPort && port >= 0 && port <= PORT_MAX) return port;
  throw new ReadError('malformed', source, 'a port in it is no port');
}

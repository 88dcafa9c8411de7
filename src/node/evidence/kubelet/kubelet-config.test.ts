import { describe, expect, test } from 'vitest';
import { ReadError } from '../../model/node-reader.ts';
import { CONFIG_CHARACTERS_MAX } from '../limits.ts';
import {
  flagSettings,
  parseArgumentsFile,
  parseEdgecoreConfig,
  parseK3sConfig,
  parseKubeletConfig,
} from './kubelet-config.ts';

function failureOf(parse: () => unknown): string | undefined {
  try {
    parse();
    return undefined;
  } catch (error) {
    return error instanceof ReadError ? error.failure : String(error);
  }
}

describe('a KubeletConfiguration', () => {
  test('sets the ports, paths and endpoints that we read', () => {
    const text = [
      'containerRuntimeEndpoint: unix:///run/crio.sock',
      'port: 10350',
      'readOnlyPort: 10355',
      'address: 127.0.0.1',
      'staticPodPath: /etc/kubernetes/manifests',
      'staticPodURL: https://manifests.example',
      'resolvConf: /run/systemd/resolve/resolv.conf',
      'clusterDomain: cluster.local',
    ].join('\n');
    expect(parseKubeletConfig(text, 'file')).toEqual({
      runtimeEndpoint: 'unix:///run/crio.sock',
      securePort: 10350,
      readOnlyPort: 10355,
      address: '127.0.0.1',
      staticPodPath: '/etc/kubernetes/manifests',
      hasStaticPodUrl: true,
      resolvConf: '/run/systemd/resolve/resolv.conf',
      hasClusterDomain: true,
    });
  });

  test('an empty value does not set a path, but resets an address or a domain', () => {
    const text = 'staticPodPath: ""\nstaticPodURL: ""\nclusterDomain: ""\nport: ""\n';
    const settings = parseKubeletConfig(text, 'file');
    expect(settings.staticPodPath).toBeUndefined();
    expect(settings.securePort).toBeUndefined();
    expect(settings).toMatchObject({ hasStaticPodUrl: false, hasClusterDomain: false });
  });

  test.each([
    ['0', 0],
    ['65535', 65_535],
    ['"10250"', 10_250],
  ])('port %s', (port, expected) => {
    expect(parseKubeletConfig(`port: ${port}`, 'file').securePort).toBe(expected);
  });

  test.each(['-1', '65536', '10250.5', 'kubelet', 'true', '[10250]'])('no port: %s', (port) => {
    expect(failureOf(() => parseKubeletConfig(`port: ${port}`, 'file'))).toBe('malformed');
  });

  test.each([
    ['neither YAML nor JSON', 'a: [', 'malformed'],
    ['a list', '- port: 10250', 'malformed'],
    ['too large', `# ${'x'.repeat(CONFIG_CHARACTERS_MAX)}`, 'too-large'],
  ])('%s', (_, text, failure) => {
    expect(failureOf(() => parseKubeletConfig(text, 'file'))).toBe(failure);
  });

  test('an empty file sets nothing', () => {
    const settings = Object.values(parseKubeletConfig('', 'file'));
    expect(settings.filter((value) => value !== undefined)).toEqual([]);
  });
});

test('flags give the same settings', () => {
  const flags = [
    '--root-dir=/data/kubelet',
    '--hostname-override=web-3',
    '--cluster-domain=cluster.local',
    '--pod-manifest-path=/etc/manifests',
  ];
  expect(flagSettings(flags, 'command line')).toMatchObject({
    root: '/data/kubelet',
    nodeName: 'web-3',
    hasClusterDomain: true,
    staticPodPath: '/etc/manifests',
  });
});

describe('the configuration of edgecore', () => {
  const edgecore = (version: string, ...edged: readonly string[]) =>
    parseEdgecoreConfig(
      [
        `apiVersion: edgecore.config.kubeedge.io/${version}`,
        'modules:',
        '  edged:',
        ...edged.map((line) => `    ${line}`),
      ].join('\n'),
      'edgecore.yaml',
    );

  test('up to KubeEdge 1.11', () => {
    const settings = edgecore(
      'v1alpha1',
      'rootDirectory: /data/edged',
      'hostnameOverride: edge-1',
      'remoteRuntimeEndpoint: unix:///run/isulad.sock',
    );
    expect(settings).toMatchObject({
      isFirstFormat: true,
      root: '/data/edged',
      nodeName: 'edge-1',
      runtimeEndpoint: 'unix:///run/isulad.sock',
    });
  });

  test('with the kubelet flags in a section of their own', () => {
    const settings = edgecore(
      'v1alpha2',
      'tailoredKubeletFlag:',
      '  rootDirectory: /data/edged',
      '  hostnameOverride: edge-1',
    );
    expect(settings).toMatchObject({
      isFirstFormat: false,
      root: '/data/edged',
      nodeName: 'edge-1',
    });
  });

  test('the kubelet configuration in the file wins over the flags for the runtime endpoint', () => {
    const flags = [
      'containerRuntimeEndpoint: unix:///flag.sock',
      'remoteRuntimeEndpoint: unix:///old.sock',
    ];
    const inside = [
      'tailoredKubeletConfig:',
      '  containerRuntimeEndpoint: unix:///inside.sock',
      '  staticPodPath: /etc/manifests',
    ];
    const both = edgecore('v1alpha2', ...flags, ...inside);
    expect(both).toMatchObject({
      runtimeEndpoint: 'unix:///inside.sock',
      staticPodPath: '/etc/manifests',
    });
    expect(edgecore('v1alpha2', ...flags).runtimeEndpoint).toBe('unix:///flag.sock');
  });
});

test('the configuration of k3s becomes flags', () => {
  const text = [
    'kubelet-arg:',
    '  - root-dir=/data/kubelet',
    '  - 7',
    'kubelet-arg+: [v=4]',
    'node-name: web-3',
    'resolv-conf: /etc/k3s-resolv.conf',
    'container-runtime-endpoint: ""',
    'token: secret',
  ].join('\n');
  expect(parseK3sConfig(text, 'config.yaml')).toEqual([
    '--kubelet-arg=root-dir=/data/kubelet',
    '--kubelet-arg=v=4',
    '--node-name=web-3',
    '--resolv-conf=/etc/k3s-resolv.conf',
  ]);
});

describe('the arguments of microk8s', () => {
  const braced = (name: string) => ['$', '{', name, '}'].join('');
  const PATH = '/var/snap/microk8s/5891/args/kubelet';

  test('may contain snap variables, comments, and several words on a line', () => {
    const text = [
      '# --root-dir=/old',
      '  # indented',
      `--root-dir=${braced('SNAP_COMMON')}/var/lib/kubelet --v=2`,
      '--config=$SNAP_DATA/kubelet.yaml',
      `--cert-dir=${braced('SNAP')}/certs`,
      '',
      `--home=${braced('HOME')}`,
    ].join('\n');
    expect(parseArgumentsFile(text, PATH)).toEqual([
      '--root-dir=/var/snap/microk8s/common/var/lib/kubelet',
      '--v=2',
      '--config=/var/snap/microk8s/5891/kubelet.yaml',
      '--cert-dir=/snap/microk8s/5891/certs',
      `--home=${braced('HOME')}`,
    ]);
  });

  test('of a file elsewhere keep their variables unexpanded', () => {
    expect(parseArgumentsFile('--a=$SNAP', '/etc/kubelet')).toEqual(['--a=$SNAP']);
  });

  test('have a limit', () => {
    const text = 'x'.repeat(CONFIG_CHARACTERS_MAX + 1);
    expect(failureOf(() => parseArgumentsFile(text, PATH))).toBe('too-large');
  });
});

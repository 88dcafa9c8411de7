import { describe, expect, test } from 'vitest';
import { makeFolder, makeLink, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { CheckMemory } from '../../checkup/check-memory.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import type { Question } from '../../model/node-reader.ts';
import { ReadError } from '../../model/node-reader.ts';
import type { Recorded } from '../../recording/recording.ts';
import { compareVersions, isOlderThan, parseVersionNumber } from '../text/version-number.ts';
import { kubernetesInside } from './edgecore-versions.ts';
import { kubeletVersion, parseBuildInfo, parseProgramVersion } from './kubelet-version.ts';
import { verificationNote } from './verified-version.ts';

const VIEW = '/proc/812/root';
const PROGRAM = { type: 'file', mode: 0o755 } as const;
const METRICS = `# HELP kubernetes_build_info A metric with a constant '1' value
kubernetes_build_info{build_date="2020-08-13",git_commit="9f",git_version="v1.18.8",minor="18"} 1
kubernetes_feature_enabled{name="x"} 1
`;

function metricsOf(scheme: 'http' | 'https', port: number): Question<'kubelet'> {
  return { scheme, address: '127.0.0.1', port, path: '/metrics' };
}

interface Made {
  readonly http?: Recorded<'kubelet'>;
  readonly https?: Recorded<'kubelet'>;
  readonly printed?: Recorded<'version'>;
  readonly comm?: string;
}

const REFUSED = { failure: 'refused' } as const;

function running({ http = REFUSED, https = REFUSED, printed, comm = 'kubelet' }: Made): NodeMaker {
  const maker = makeProc(new NodeMaker(), [812]);
  makeProcess(maker, { comm });
  makeFolder(maker, VIEW, '/var/lib/kubelet');
  makeFolder(maker, '', VIEW);
  makeFolder(maker, VIEW, `/usr/bin/${comm}`, PROGRAM);
  maker
    .set('kubelet', metricsOf('http', 10255), http)
    .set('kubelet', metricsOf('https', 10250), https);
  const question = { program: '/proc/812/exe', arguments: ['--version'] };
  return printed ? maker.set('version', question, printed) : maker;
}

function collect(maker: NodeMaker) {
  return takeSnapshot(maker.build()).of(kubeletVersion);
}

async function failureOf(maker: NodeMaker): Promise<ReadError> {
  const error: unknown = await collect(maker).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(ReadError);
  return error as ReadError;
}

describe('the version of a running kubelet', () => {
  const good = { answer: { status: 200, body: METRICS } };

  test('is read from the read-only port', async () => {
    expect(await collect(running({ http: good }))).toEqual({
      text: 'v1.18.8',
      major: 1,
      minor: 18,
      patch: 8,
      origin: { url: 'http://127.0.0.1:10255/metrics' },
    });
  });

  test('is read from the secure port if the read-only port is closed', async () => {
    const { origin } = await collect(running({ https: good }));
    expect(origin).toEqual({ url: 'https://127.0.0.1:10250/metrics' });
  });

  test('comes from the program if neither port reports it', async () => {
    const maker = running({
      http: { answer: { status: 200, body: 'nothing here' } },
      https: { answer: { status: 403, body: METRICS } },
      printed: { answer: 'Kubernetes v1.34.1\n' },
    });
    expect(await collect(maker)).toMatchObject({
      text: 'v1.34.1',
      minor: 34,
      origin: { command: '/proc/812/exe --version' },
    });
  });

  test('is printed once for each process, and known from an earlier check afterwards', async () => {
    const maker = running({ printed: { answer: 'Kubernetes v1.34.1\n' } });
    const memory = new CheckMemory();
    await memory.keep(maker, {});
    const settings = memory.addedTo({});
    const collectOn = (next: NodeMaker) => takeSnapshot(next.build(), settings).of(kubeletVersion);
    const again = running({ printed: { failure: 'timeout' } });
    expect(await collectOn(again)).toEqual(await collect(maker));
    // It is known also after a check that did not ask.
    await memory.keep(again, settings);
    expect(memory.addedTo({})).toEqual(settings);
    const other = running({ printed: { answer: 'Kubernetes v1.35.0\n' } });
    other.file('/proc/812/stat', '812 (kubelet) S 1 1 1 0 -1 4 1 2 3 4 5 6 7 8 20 0 14 0 99 1 1\n');
    expect(await collectOn(other)).toMatchObject({ text: 'v1.35.0' });
  });

  test('is not known if all sources fail, and the error names each with its reason', async () => {
    const maker = running({
      https: { answer: { status: 401, body: '' } },
      printed: { failure: 'timeout' },
    });
    const error = await failureOf(maker);
    expect(error.message).toContain('GET http://127.0.0.1:10255/metrics: nothing listens there');
    expect(error.message).toContain('GET https://127.0.0.1:10250/metrics: it answered 401');
    expect(error.message).toContain('/proc/812/exe --version: no answer within the time limit');
  });

  test.each([
    [401, 'denied'],
    [403, 'denied'],
    [500, 'failed'],
  ])('with HTTP status %s is %s', async (status, failure) => {
    const page = { answer: { status, body: METRICS } };
    const maker = running({ http: page, https: page, printed: { failure: 'timeout' } });
    expect((await failureOf(maker)).failure).toBe(failure);
  });

  test('is unsupported if no source supports it, after any other failure', async () => {
    const maker = running({ printed: { answer: 'Kubernetes v1.18.8' } });
    maker.link('/proc/812/exe', '/usr/bin/kubelet (deleted)');
    expect((await failureOf(maker)).failure).toBe('unsupported');
  });

  test('is asked of hyperkube with the subcommand kubelet', async () => {
    const maker = running({ comm: 'hyperkube' });
    const question = { program: '/proc/812/exe', arguments: ['kubelet', '--version'] };
    maker.set('version', question, { answer: 'Kubernetes v1.17.4\n' });
    maker.file('/proc/812/cmdline', '/usr/bin/hyperkube\0kubelet\0');
    expect(await collect(maker)).toMatchObject({ text: 'v1.17.4' });
  });

  test.each([
    ['the file', '/usr/bin/kubelet', { ...PROGRAM, mode: 0o777 }],
    ['a directory', '/usr/bin', { mode: 0o1777 }],
    ['a directory, by a group', '/usr', { mode: 0o775 }],
  ])('is not asked of a program if other users may write %s', async (_, path, status) => {
    const maker = running({ printed: { answer: 'Kubernetes v1.18.8' } });
    makeFolder(maker, VIEW, path, status);
    expect((await failureOf(maker)).message).toContain(`others than root may write ${path}`);
  });

  test('is not asked of a program of another user, nor of a replaced one', async () => {
    const printed = { answer: 'Kubernetes v1.18.8' };
    const foreign = makeFolder(running({ printed }), VIEW, '/usr/bin', { owner: 1000 });
    expect((await failureOf(foreign)).message).toContain("/usr/bin is not root's");
    const replaced = running({ printed }).link('/proc/812/exe', '/usr/bin/kubelet (deleted)');
    expect((await failureOf(replaced)).message).toContain('replaced since it was started');
  });
});

describe('the version of a kubelet inside edgecore', () => {
  const edgecore = (printed: string) =>
    running({ comm: 'edgecore', printed: { answer: printed } })
      .file(`${VIEW}/etc/kubeedge/config/edgecore.yaml`, 'modules: {edged: {rootDirectory: /var}}')
      .set('kubelet', metricsOf('http', 10350), {
        answer: { status: 200, body: 'kubernetes_build_info{git_version="v0.0.0-master+abc"} 1' },
      });

  test('is that of the Kubernetes it was built from', async () => {
    expect(await collect(edgecore('KubeEdge v1.13.4\n'))).toMatchObject({
      text: 'v1.23.17',
      minor: 23,
      patch: 17,
      via: 'KubeEdge v1.13.4',
    });
  });

  test.each([
    ['v1.23.2', 'v1.32.10', 'KubeEdge v1.23.1'],
    ['v1.99.0-beta.0', 'v1.32.10', 'KubeEdge v1.23.1'],
    ['v2.0.0', 'v1.32.10', 'KubeEdge v1.23.1'],
    ['v1.22.3', 'v1.31.12', 'KubeEdge v1.22.2'],
  ])('in %s is assumed to be %s, as in %s', async (release, text, newest) => {
    const found = await collect(edgecore(`KubeEdge ${release}\n`));
    expect(found).toMatchObject({
      ...{ text, via: `KubeEdge ${release}`, assumption: `last verified with ${newest}` },
    });
    expect(verificationNote(found)).toBe(`; last verified with ${newest}`);
  });

  test.each(['v1.2.0', 'v1.9.0', 'v1.13.4-fluidos.2', 'v1.13.0-beta.0.7+fb22a08cd41a52'])(
    'is not guessed for %s',
    async (release) => {
      const error = await failureOf(edgecore(`KubeEdge ${release}\n`));
      expect(error.failure).toBe('unsupported');
      expect(error.message).toContain(`the kubelet inside KubeEdge ${release} is not known to us`);
    },
  );

  test('is read directly if the text names both versions', () => {
    const version = parseVersionNumber('v1.22.6-kubeedge-v1.10.0', 'node');
    expect(version).toMatchObject({ minor: 22, patch: 6 });
    expect(version.prerelease).toBeUndefined();
    expect(kubernetesInside(parseVersionNumber('v1.10.0', 'edgecore'))).toEqual({
      kubernetes: 'v1.22.6',
    });
  });
});

describe('the version of a kubelet that does not run', () => {
  const stopped = () => {
    const maker = makeProc(new NodeMaker(), []);
    makeFolder(maker, '', '/var/lib/kubelet').missing('status', '/usr/bin/kubelet');
    maker.missing('status', '/opt').missing('status', '/usr/bin/edgecore');
    for (const name of ['kubelet', 'k3s', 'edgecore']) {
      maker.missing('status', `/usr/local/bin/${name}`);
    }
    makeFolder(maker, '', '/usr/local/bin');
    makeFolder(maker, '', '/usr/bin');
    return maker.set('status', { path: '/' }, { answer: FOLDER });
  };
  const FOLDER = {
    type: 'folder',
    mode: 0o755,
    owner: 0,
    device: '254:1',
    inode: '2',
    links: 2,
    sizeBytes: 0,
    modifiedMs: 0,
  } as const;

  test('is asked of the program at its default path, through links too', async () => {
    const maker = makeLink(stopped(), '', '/usr/local/bin/k3s', '../lib/k3s');
    makeFolder(maker, '', '/usr/local/lib/k3s', PROGRAM).set(
      'version',
      { program: '/usr/local/lib/k3s', arguments: ['--version'] },
      { answer: 'k3s version v1.28.5+k3s1 (5b2d1271)\ngo version go1.20.12\n' },
    );
    expect(await collect(maker)).toMatchObject({ text: 'v1.28.5+k3s1', minor: 28 });
  });

  test('is missing if there is no program', async () => {
    expect((await failureOf(stopped())).failure).toBe('missing');
  });

  test('is missing if there is no kubelet', async () => {
    const maker = makeProc(new NodeMaker(), []);
    for (const path of ['/var', '/opt']) maker.missing('status', path);
    expect((await failureOf(maker)).message).toContain('there is no kubelet');
  });
});

describe('numbers', () => {
  test.each([
    ['v1.19.0-rc.1', 'rc.1'],
    ['v1.19.0-alpha.0.713+0f6b', 'alpha.0.713'],
    ['v1.18.8-gke.100', undefined],
    ['v1.20.6-tke.23', undefined],
    ['v1.28.5+k3s1', undefined],
    ['v1.18.8-betamax.1', undefined],
    ['1.18.8', undefined],
  ])('%s has the pre-release %s', (text, prerelease) => {
    expect(parseVersionNumber(text, 'x').prerelease).toBe(prerelease);
  });

  test.each(['', 'v1', 'v1.18', 'v1.18.x', 'v1.18.8 (abc)', 'v1.18.8\n- x', '1.1.1'.repeat(99)])(
    '%j is not a version',
    (text) => expect(() => parseVersionNumber(text, 'x')).toThrow(ReadError),
  );

  test('are in order', () => {
    const sorted = [
      'v1.9.11',
      'v1.18.20',
      'v1.19.0-alpha.3',
      'v1.19.0-beta.0',
      'v1.19.0-beta.2',
      'v1.19.0-beta.10',
      'v1.19.0-rc.1',
      'v1.19.0-rc.1.5',
      'v1.19.0',
      'v1.19.1',
      'v2.0.0',
    ].map((text) => parseVersionNumber(text, 'x'));
    expect(sorted.toReversed().toSorted(compareVersions)).toEqual(sorted);
    const limit = { major: 1, minor: 19, patch: 0 };
    expect(sorted.filter((version) => isOlderThan(version, limit)).at(-1)?.text).toBe(
      'v1.19.0-rc.1.5',
    );
  });

  test.each([
    ['alpha.0', 'alpha-1'],
    ['RC.1', 'alpha'],
    ['rc.10', 'rc.1x'],
    ['rc.2', 'rc.1x'],
    ['k3s10', 'k3s2'],
    ['rc.9', 'rc.10'],
    ['rc', 'rc.0'],
  ])('the pre-release %s is older than %s', (older, newer) => {
    const of = (prerelease: string) => ({ major: 1, minor: 19, patch: 0, prerelease });
    expect(compareVersions(of(older), of(newer))).toBeLessThan(0);
    expect(compareVersions(of(newer), of(older))).toBeGreaterThan(0);
    expect(compareVersions(of(older), of(older))).toBe(0);
  });

  test.each([
    ['Kubernetes v1.18.8\n', 'v1.18.8'],
    ['rke2 version v1.28.5+rke2r1 (abc)\n', 'v1.28.5+rke2r1'],
  ])('%j prints %s', (text, version) => {
    expect(parseProgramVersion(text, 'x').text).toBe(version);
  });

  test('are read only from the line that begins with the metric', () => {
    const text = '# kubernetes_build_info{git_version="v9.9.9"}\nx{a="git_version="} 1\n';
    expect(() => parseBuildInfo(text, 'x')).toThrow(ReadError);
    expect(parseBuildInfo(`${text}${METRICS}`, 'x').text).toBe('v1.18.8');
    // The format of kubelets up to 1.18.
    const older = 'kubernetes_build_info{buildDate="1970",gitVersion="v1.18.8",major="1"} 1';
    expect(parseBuildInfo(older, 'x').text).toBe('v1.18.8');
  });
});

test.each([
  ['no version at all', () => parseProgramVersion('usage: kubelet', 'test'), 'malformed'],
  ['metrics without it', () => parseBuildInfo('up 1', 'test'), 'malformed'],
  [
    'a kubelet that was built without a version',
    () => parseBuildInfo('kubernetes_build_info{git_version="v0.0.0-master+a"} 1', 'test'),
    'unsupported',
  ],
])('%s', (_, parse, failure) => {
  expect(parse).toThrow(expect.objectContaining({ failure }));
});

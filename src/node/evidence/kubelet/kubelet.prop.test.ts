import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { makeFolder, makeProc, makeProcess } from '../../../../test/synthetic-kubelet.ts';
import { NodeMaker } from '../../../../test/synthetic-node.ts';
import { takeSnapshot } from '../../checkup/take-snapshot.ts';
import { ReadError } from '../../model/node-reader.ts';
import { flagValue, flagValues, parseCommandLine } from '../processes/command-line.ts';
import { compareVersions, parseVersionNumber } from '../text/version-number.ts';
import { kubelet } from './kubelet.ts';
import {
  parseArgumentsFile,
  parseEdgecoreConfig,
  parseK3sConfig,
  parseKubeletConfig,
} from './kubelet-config.ts';
import { parseBuildInfo, parseProgramVersion } from './kubelet-version.ts';

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom('-', '=', '\0', 'root-dir', '/', ' ', '\n', '"', '\udcff') }),
  fc.json(),
);

/** A parser may only fail with a ReadError. */
function failsOtherwise(run: () => unknown): boolean {
  try {
    run();
    return false;
  } catch (error) {
    return !(error instanceof ReadError);
  }
}

test('a command line parses into its words', () => {
  const word = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => !text.includes('\0'));
  fc.assert(
    fc.property(fc.array(word), (words) => {
      expect(parseCommandLine(words.map((text) => `${text}\0`).join(''))).toEqual(words);
    }),
  );
});

test('a flag has its last value, in any notation and between any other words', () => {
  const noise = fc.array(fc.constantFrom('kubelet', '-v=2', '--v', '2', '--root', '--dir=x', ''));
  const value = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(
      noise,
      value,
      fc.boolean(),
      fc.constantFrom('-', '--'),
      (words, text, one, dash) => {
        const flag = one ? [`${dash}root-dir=${text}`] : [`${dash}root-dir`, text];
        expect(flagValue([...words, '--root-dir=first', ...flag, ...words], 'root-dir')).toBe(text);
      },
    ),
  );
});

test('any text makes a parser fail with a ReadError only', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      const runs = [
        () => flagValues(parseCommandLine(text), 'root-dir', 'config'),
        () => parseKubeletConfig(text, 'x'),
        () => parseEdgecoreConfig(text, 'x'),
        () => parseK3sConfig(text, 'x'),
        () => parseArgumentsFile(text, '/var/snap/m/1/args/kubelet'),
        () => parseBuildInfo(`kubernetes_build_info{git_version="${text}`, 'x'),
        () => parseProgramVersion(`Kubernetes ${text}`, 'x'),
        () => parseVersionNumber(text, 'x'),
      ];
      expect(runs.filter(failsOtherwise)).toEqual([]);
    }),
  );
});

test('any process makes the search fail with a ReadError only', async () => {
  const comm = fc.constantFrom('kubelet', 'k3s-server', 'edgecore', 'kubelite', 'hyperkube');
  await fc.assert(
    fc.asyncProperty(comm, fc.array(hostile), hostile, async (name, words, text) => {
      const maker = makeProc(new NodeMaker(), [812]);
      makeProcess(maker, { comm: name, words: [name, ...words] });
      makeFolder(maker, '/proc/812/root', '/var/lib/kubelet');
      maker.file('/proc/812/status', `Uid:\t0\t0\t0\t0\nPPid:\t1\n${text}`);
      const error: unknown = await takeSnapshot(maker.build())
        .of(kubelet)
        .then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
      expect(error === undefined || error instanceof ReadError, String(error)).toBe(true);
    }),
  );
});

test('versions have a total order', () => {
  const version = fc
    .tuple(
      fc.nat(3),
      fc.nat(3),
      fc.nat(3),
      fc.constantFrom(
        '',
        '-rc.1',
        '-rc.2',
        '-beta.0',
        '-alpha.10',
        '-alpha.9.1',
        '-gke.1',
        '+k3s1',
      ),
    )
    .map(([a, b, c, suffix]) => parseVersionNumber(`v${a}.${b}.${c}${suffix}`, 'x'));
  fc.assert(
    fc.property(version, version, version, (a, b, c) => {
      expect(Math.sign(compareVersions(a, b))).toBe(-Math.sign(compareVersions(b, a)) + 0);
      if (compareVersions(a, b) <= 0 && compareVersions(b, c) <= 0) {
        expect(compareVersions(a, c)).toBeLessThanOrEqual(0);
      }
    }),
  );
});

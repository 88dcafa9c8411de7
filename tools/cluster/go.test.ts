import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { libraryNames } from './build-kubernetes.ts';
import { downloadedModule, go, withThreeTries } from './go.ts';

/** A Go that refuses everything. */
const FALSE = { program: 'false', environment: process.env };
const MODULE = 'k8s.io/kubernetes@v1.36.3';
const ANSWER = {
  Path: 'k8s.io/kubernetes',
  Version: 'v1.36.3',
  GoMod: '/cache/k8s.io/kubernetes/@v/v1.36.3.mod',
  Dir: '/mod/k8s.io/kubernetes@v1.36.3',
};

describe('the answer of go mod download', () => {
  it('names the directory of the module and its go.mod', () => {
    expect(downloadedModule(MODULE, JSON.stringify(ANSWER))).toEqual({
      folder: '/mod/k8s.io/kubernetes@v1.36.3',
      goMod: '/cache/k8s.io/kubernetes/@v/v1.36.3.mod',
    });
  });

  it.each([
    ['no directory', { Dir: undefined }],
    ['an empty directory', { Dir: '' }],
    ['the whole machine', { Dir: '/' }],
    ['a relative directory', { Dir: 'mod' }],
    ['no go.mod', { GoMod: undefined }],
    ['another version', { Version: 'v1.36.4' }],
  ])('is not believed when it names %s', (_what, change) => {
    const answer = JSON.stringify({ ...ANSWER, ...change });
    expect(() => downloadedModule(MODULE, answer)).toThrow(/says no directory/);
  });
});

describe('what the module proxy is asked for', () => {
  it('is asked again when it did not answer', async () => {
    let tries = 0;
    const answer = await withThreeTries(
      async () => {
        tries += 1;
        if (tries < 3) return go(FALSE, tmpdir(), ['mod']);
        return 'here';
      },
      { pauseMs: 0 },
    );
    expect(answer).toBe('here');
  });

  it('is asked three times, not for ever', async () => {
    let tries = 0;
    const asking = withThreeTries(
      async () => {
        tries += 1;
        return go(FALSE, tmpdir(), ['mod', String(tries)]);
      },
      { pauseMs: 0 },
    );
    await expect(asking).rejects.toThrow('go mod 3 failed');
  });
});

describe('the go.mod of Kubernetes', () => {
  it('names the libraries that are published on their own', () => {
    const text = `module k8s.io/kubernetes
go 1.26.0
require (
\tk8s.io/api v0.0.0
\tk8s.io/pod-security-admission v0.0.0
\tk8s.io/klog/v2 v2.140.0
\tsigs.k8s.io/yaml v1.6.0
)
replace (
\tk8s.io/api => ./staging/src/k8s.io/api
)`;
    expect(libraryNames(text)).toEqual(['k8s.io/api', 'k8s.io/pod-security-admission']);
  });
});

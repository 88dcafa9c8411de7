import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findBinaries, folderFor, obstacleToBuilding } from './binaries.ts';
import {
  CURRENT,
  LAST_WITH_STALE_SUBPATH,
  OLDEST_API_SERVER,
  RECIPES,
  recipesWith,
} from './kubernetes-recipes.ts';

let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'kubediag-binaries-'));
  vi.stubEnv('XDG_CACHE_HOME', join(scratch, 'cache'));
  vi.stubEnv('KUBEBUILDER_ASSETS', undefined);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(scratch, { recursive: true });
});

/** Programs that can say no more than their version. */
async function makePrograms(folder: string, programs: readonly string[]): Promise<string> {
  await mkdir(folder, { recursive: true });
  for (const program of programs) {
    // kubelet-v1.18.8
    const [, version = CURRENT] = /-(v[\d.]+)$/.exec(program) ?? [];
    await writeFile(join(folder, program), `#!/bin/sh\necho Kubernetes ${version}\n`);
    await chmod(join(folder, program), 0o755);
  }
  return folder;
}

const programs = RECIPES[CURRENT]?.programs ?? [];
const quietly = { log: () => {}, mayBuild: false };

describe('the programs of Kubernetes', () => {
  it('come from the named directory before all others', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    vi.stubEnv('KUBEBUILDER_ASSETS', await makePrograms(join(scratch, 'builder'), programs));
    expect(await findBinaries({ ...quietly, assets })).toMatchObject({
      kubectl: join(assets, 'kubectl'),
      kubelet: join(assets, 'kubelet'),
      kubeletVersion: CURRENT,
    });
  });

  it('come from $KUBEBUILDER_ASSETS before the cache', async () => {
    const folder = await makePrograms(join(scratch, 'builder'), programs);
    vi.stubEnv('KUBEBUILDER_ASSETS', folder);
    expect(await findBinaries(quietly)).toMatchObject({ kubelet: join(folder, 'kubelet') });
  });

  it('come from the cache when $KUBEBUILDER_ASSETS has only some of them', async () => {
    const builder = await makePrograms(join(scratch, 'builder'), ['kube-apiserver', 'kubectl']);
    vi.stubEnv('KUBEBUILDER_ASSETS', builder);
    const recipe = RECIPES[CURRENT];
    if (!recipe) throw new Error('no recipe');
    const cache = await makePrograms(folderFor(recipe), programs);
    expect(await findBinaries(quietly)).toMatchObject({ kubectl: join(cache, 'kubectl') });
  });

  it('are missing, and it is said which, when the named directory lacks some', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), ['kubectl', 'kubelet']);
    expect(await findBinaries({ ...quietly, assets })).toEqual({
      missing: expect.stringContaining('has no kube-apiserver, kube-controller-manager'),
    });
  });

  it('are missing, and it is said what to do, when they may not be built', async () => {
    expect(await findBinaries(quietly)).toEqual({
      missing: expect.stringContaining('npm run cluster -- build'),
    });
  });

  it('are missing, and it is said what to do, without Go', async () => {
    vi.stubEnv('PATH', scratch);
    expect(await findBinaries({ log: () => {} })).toEqual({
      missing: expect.stringMatching(/there is no Go: install it/),
    });
  });
});

describe('what was named', () => {
  it('may be a path from here', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    const here = relative(process.cwd(), assets);
    const found = { kubectl: join(assets, 'kubectl') };
    expect(await findBinaries({ ...quietly, assets: here })).toMatchObject(found);
    vi.stubEnv('KUBEBUILDER_ASSETS', here);
    expect(await findBinaries(quietly)).toMatchObject(found);
  });

  it('is refused when its programs cannot be run', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    await chmod(join(assets, 'kubectl'), 0o644);
    expect(await findBinaries({ ...quietly, assets })).toEqual({
      missing: expect.stringContaining('has no kubectl that can be run'),
    });
  });

  it.each(['/bin/true', '/etc/passwd', '/etc'])(
    'is refused when it is no kubelet: %s',
    async (path) => {
      const assets = await makePrograms(join(scratch, 'assets'), programs);
      expect(await findBinaries({ ...quietly, assets, kubelet: path })).toEqual({
        missing: expect.stringContaining(`${path} is no kubelet: `),
      });
    },
  );

  it('is passed over aloud', async () => {
    vi.stubEnv('KUBEBUILDER_ASSETS', await makePrograms(join(scratch, 'builder'), ['kubectl']));
    const output: string[] = [];
    await findBinaries({ mayBuild: false, log: (line) => output.push(line) });
    expect(output).toEqual([expect.stringContaining('$KUBEBUILDER_ASSETS is passed over')]);
  });
});

describe('a build', () => {
  it('is not begun where the disk is too small', async () => {
    const go = join(await makePrograms(join(scratch, 'go'), []), 'go');
    const settings = { GOMODCACHE: join(scratch, 'none/mod'), GOCACHE: join(scratch, 'none') };
    await writeFile(go, `#!/bin/sh\necho '${JSON.stringify(settings)}'\n`);
    await chmod(go, 0o755);
    vi.stubEnv('PATH', join(scratch, 'go'));
    expect(await obstacleToBuilding(join(scratch, 'here'), 1)).toBe(undefined);
    expect(await obstacleToBuilding(join(scratch, 'here'), 9e18)).toMatch(
      /none\/mod has \d+[.]\d GB of the 9000000000[.]0 GB that it needs: free some space/,
    );
  });
});

describe('another kubelet', () => {
  it('comes from the named directory too', async () => {
    const name = `kubelet-${LAST_WITH_STALE_SUBPATH}`;
    const assets = await makePrograms(join(scratch, 'assets'), [...programs, name]);
    const options = { ...quietly, assets, kubelet: LAST_WITH_STALE_SUBPATH };
    expect(await findBinaries(options)).toMatchObject({
      kubelet: join(assets, name),
      kubeletVersion: LAST_WITH_STALE_SUBPATH,
    });
  });

  it('may be any path', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    const own = join(await makePrograms(join(scratch, 'own'), ['my-kubelet']), 'my-kubelet');
    expect(await findBinaries({ ...quietly, assets, kubelet: own })).toMatchObject({
      kubelet: own,
    });
  });

  it('refuses an unknown version and lists the available ones', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    expect(await findBinaries({ ...quietly, assets, kubelet: 'v1.2.3' })).toEqual({
      missing: expect.stringContaining(`give ${CURRENT} or ${LAST_WITH_STALE_SUBPATH} or `),
    });
  });
});

describe('another API server', () => {
  it('comes from the named directory with all programs but kubectl', async () => {
    const old = (RECIPES[OLDEST_API_SERVER]?.programs ?? []).map(
      (name) => `${name}-${OLDEST_API_SERVER}`,
    );
    const assets = await makePrograms(join(scratch, 'assets'), [...programs, ...old]);
    const options = { ...quietly, assets, apiServer: OLDEST_API_SERVER };
    expect(await findBinaries(options)).toMatchObject({
      'kube-apiserver': join(assets, `kube-apiserver-${OLDEST_API_SERVER}`),
      'kube-scheduler': join(assets, `kube-scheduler-${OLDEST_API_SERVER}`),
      kubectl: join(assets, 'kubectl'),
      kubeletVersion: OLDEST_API_SERVER,
    });
    const kubelet = LAST_WITH_STALE_SUBPATH;
    await makePrograms(assets, [`kubelet-${kubelet}`]);
    expect(await findBinaries({ ...options, kubelet })).toMatchObject({ kubeletVersion: kubelet });
  });

  it('comes from the cache, from a build of its own', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    const [recipe] = recipesWith('kube-apiserver').filter(
      ({ version }) => version === OLDEST_API_SERVER,
    );
    if (!recipe) throw new Error('no recipe');
    const options = { ...quietly, assets, apiServer: OLDEST_API_SERVER };
    expect(await findBinaries(options)).toEqual({
      missing: expect.stringContaining(`Kubernetes ${OLDEST_API_SERVER} is not built yet`),
    });
    const cache = await makePrograms(folderFor(recipe), recipe.programs);
    expect(await findBinaries(options)).toMatchObject({
      'kube-apiserver': join(cache, 'kube-apiserver'),
    });
  });

  it('refuses an unknown version and lists the available ones', async () => {
    const assets = await makePrograms(join(scratch, 'assets'), programs);
    expect(await findBinaries({ ...quietly, assets, apiServer: 'v1.2.3' })).toEqual({
      missing: `there is no kube-apiserver v1.2.3: give ${CURRENT} or ${OLDEST_API_SERVER}`,
    });
  });
});

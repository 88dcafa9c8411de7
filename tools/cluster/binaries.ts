import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '../cache-folder.ts';
import type { Missing } from '../debian-packages.ts';
import { buildKubernetes } from './build-kubernetes.ts';
import { goSettings } from './go.ts';
import { CURRENT, RECIPES, type Recipe, recipesWith } from './kubernetes-recipes.ts';
import type { Log } from './log.ts';

const run = promisify(execFile);
/** Go caches sources and compiled code, 6 GB; programs and temporary files come on top. */
const BUILD_BYTES = 10e9;
const VERSION_MS = 30_000;

/** The programs of Kubernetes that a cluster is started with, as paths. */
export interface Binaries {
  readonly 'kube-apiserver': string;
  readonly 'kube-controller-manager': string;
  readonly 'kube-scheduler': string;
  readonly 'kube-proxy': string;
  readonly kubectl: string;
  readonly kubelet: string;
  readonly kubeletVersion: string;
}

export interface BinariesOptions {
  /** A version that can be built, or a path; by default that of the API server. */
  readonly kubelet?: string | undefined;
  /** Version of all programs but kubectl, one that can be built. */
  readonly apiServer?: string | undefined;
  /** A directory with all of the programs, and perhaps "kubelet-v1.18.8". */
  readonly assets?: string | undefined;
  /** Whether what is nowhere may be built, which takes minutes and gigabytes. */
  readonly mayBuild?: boolean;
  readonly log?: Log;
  /** Gives up a build. */
  readonly signal?: AbortSignal | undefined;
}

/** From the directory that was named, from $KUBEBUILDER_ASSETS, from the cache, or built now. */
export async function findBinaries(options: BinariesOptions = {}): Promise<Binaries | Missing> {
  const { apiServer = CURRENT, kubelet = apiServer } = options;
  const current = await programsOf(recipeOf(CURRENT), options);
  if ('missing' in current) return current;
  const cluster = await clusterPrograms(apiServer, current, options);
  if ('missing' in cluster) return cluster;
  const chosen = await chosenKubelet(kubelet, current, options);
  if ('missing' in chosen) return chosen;
  const answer = await versionOf(chosen.path);
  if ('missing' in answer) return answer;
  return {
    ...cluster,
    kubectl: join(current.folder, 'kubectl'),
    kubelet: chosen.path,
    kubeletVersion: answer.version,
  };
}

/** The programs of each node, which differ in the kubelet only. */
export async function findBinariesOfAll(
  kubelets: readonly (string | undefined)[],
  options: Omit<BinariesOptions, 'kubelet'>,
): Promise<readonly Binaries[] | Missing> {
  const all: Binaries[] = [];
  for (const kubelet of kubelets) {
    const found = await findBinaries({ ...options, kubelet });
    if ('missing' in found) return found;
    all.push(found);
  }
  return all;
}

/** Of one version: a scheduler and a kube-proxy do not work under an API server that is much older. */
async function clusterPrograms(
  version: string,
  current: { readonly folder: string },
  options: BinariesOptions,
): Promise<Omit<Binaries, 'kubectl' | 'kubelet' | 'kubeletVersion'> | Missing> {
  const pathsIn = (folder: string, suffix = '') => ({
    'kube-apiserver': join(folder, `kube-apiserver${suffix}`),
    'kube-controller-manager': join(folder, `kube-controller-manager${suffix}`),
    'kube-scheduler': join(folder, `kube-scheduler${suffix}`),
    'kube-proxy': join(folder, `kube-proxy${suffix}`),
  });
  if (version === CURRENT) return pathsIn(current.folder);
  const recipes = recipesWith('kube-apiserver');
  const recipe = recipes.find((each) => each.version === version);
  if (!recipe) {
    const versions = recipes.map((each) => each.version).join(' or ');
    return { missing: `there is no kube-apiserver ${version}: give ${versions}` };
  }
  const assets = assetFolders(options).map((folder) => pathsIn(folder, `-${version}`));
  const given = assets.find((paths) => Object.values(paths).every(canBeRun));
  if (given) return given;
  const built = await builtPrograms(recipe, options);
  return 'missing' in built ? built : pathsIn(built.folder);
}

async function chosenKubelet(
  kubelet: string,
  current: { readonly folder: string },
  options: BinariesOptions,
): Promise<{ readonly path: string } | Missing> {
  if (kubelet === CURRENT) return { path: join(current.folder, 'kubelet') };
  const recipes = recipesWith('kubelet');
  const recipe = recipes.find(({ version }) => version === kubelet);
  if (recipe) {
    const asset = assetFolders(options).map((folder) => join(folder, `kubelet-${kubelet}`));
    const given = asset.find((path) => existsSync(path));
    if (given) return { path: given };
    const built = await builtPrograms(recipe, options);
    return 'missing' in built ? built : { path: join(built.folder, 'kubelet') };
  }
  const path = resolve(kubelet);
  if (existsSync(path)) return { path };
  const versions = recipes.map(({ version }) => version).join(' or ');
  return { missing: `there is no kubelet ${kubelet}: give ${versions}, or the path of one` };
}

async function programsOf(
  recipe: Recipe,
  options: BinariesOptions,
): Promise<{ readonly folder: string } | Missing> {
  const { log = console.error } = options;
  for (const folder of assetFolders(options)) {
    const lacking = recipe.programs.filter((program) => !canBeRun(join(folder, program)));
    if (lacking.length === 0) return { folder };
    const what = `${folder} has no ${lacking.join(', ')} that can be run`;
    if (options.assets) return { missing: `${what}: put them there, or leave --assets out` };
    // Often it holds only what tests of controllers need; half of it would be a mix of versions.
    log(`$KUBEBUILDER_ASSETS is passed over: ${what}`);
  }
  return builtPrograms(recipe, options);
}

function assetFolders({ assets }: BinariesOptions): readonly string[] {
  return [assets || [], process.env.KUBEBUILDER_ASSETS || []].flat().map((path) => resolve(path));
}

function canBeRun(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

async function builtPrograms(
  recipe: Recipe,
  { mayBuild = true, log = console.error, signal }: BinariesOptions,
): Promise<{ readonly folder: string } | Missing> {
  const folder = folderFor(recipe);
  if (existsSync(folder)) return { folder };
  const what = `Kubernetes ${recipe.version} is not built yet`;
  if (!mayBuild) {
    return { missing: `${what}; \`npm run cluster -- build\` does it (${recipe.minutes} min)` };
  }
  const obstacle = await obstacleToBuilding(folder);
  if (obstacle) return { missing: `${what}, and ${obstacle}` };
  try {
    await buildKubernetes(recipe, folder, { log, signal });
  } catch (error) {
    const why = signal?.aborted ? 'the build was interrupted' : (error as Error).message;
    return { missing: `${what}: ${why}` };
  }
  return { folder };
}

/** How long it is thought to take changes nothing in what is built. */
export function folderFor(recipe: Recipe): string {
  return cacheFolder(['kubernetes', 1, process.arch, { ...recipe, minutes: undefined }]);
}

/** What is in the way of a build, and what to do about it. */
export async function obstacleToBuilding(
  folder: string,
  needBytes = BUILD_BYTES,
): Promise<string | undefined> {
  const settings = await goSettings('GOMODCACHE', 'GOCACHE').catch(() => undefined);
  if (!settings) return 'there is no Go: install it (see go.dev), or give --assets';
  for (const path of [settings.GOMODCACHE, settings.GOCACHE, folder]) {
    const { bavail, bsize } = await statfs(existingParent(path));
    if (bavail * bsize >= needBytes) continue;
    const [free, need] = [bavail * bsize, needBytes].map((bytes) => (bytes / 1e9).toFixed(1));
    return `${path} has ${free} GB of the ${need} GB that it needs: free some space, or give --assets`;
  }
  return undefined;
}

function existingParent(path: string): string {
  return existsSync(path) ? path : existingParent(dirname(path));
}

async function versionOf(kubelet: string): Promise<{ readonly version: string } | Missing> {
  if (!canBeRun(kubelet)) return { missing: `${kubelet} is no kubelet: it cannot be run` };
  const answer = await run(kubelet, ['--version'], { timeout: VERSION_MS }).then(
    ({ stdout }) => stdout,
    (error: Error) => error.message,
  );
  // Kubernetes v1.18.8
  const version = /^Kubernetes (v1[.]\d+[.]\S+)/.exec(answer)?.[1];
  if (version) return { version };
  const [line = ''] = answer.split('\n');
  return { missing: `${kubelet} is no kubelet: --version says "${line.slice(0, 200)}"` };
}

function recipeOf(version: string): Recipe {
  const recipe = RECIPES[version];
  if (!recipe) throw new Error(`no recipe for ${version}`);
  return recipe;
}

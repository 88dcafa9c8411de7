import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { getAsset, isSea } from 'node:sea';
import type { KubeletVersion } from '../settings.ts';
import type { Pod } from './pod.ts';
import type { SyncLoop } from './sync-loop.ts';
import { placeOf } from './volume-files.ts';

export interface Page {
  readonly status: number;
  readonly body: string | Buffer;
}

const NOT_FOUND: Page = { status: 404, body: '404 page not found\n' };

/** The HTTP pages of the kubelet. */
export async function pageAt(
  address: string,
  version: KubeletVersion,
  loop: SyncLoop,
): Promise<Page> {
  const { pathname, searchParams } = new URL(address, 'http://127.0.0.1');
  switch (pathname) {
    case '/healthz':
      return loop.isWell ? { status: 200, body: 'ok' } : { status: 500, body: UNHEALTHY[version] };
    case '/healthz/syncloop':
      return loop.isWell ? { status: 200, body: 'ok' } : { status: 500, body: LATE };
    case '/pods': {
      const list = { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: loop.pods };
      return { status: 200, body: `${JSON.stringify(list)}\n` };
    }
    case '/metrics':
      return { status: 200, body: metricsOf(version, loop) };
    case '/debug/pprof/goroutine': {
      const form = searchParams.get('debug') === '1' ? 'counted' : 'each';
      const state = loop.isHeldUp ? 'blocked' : 'healthy';
      return { status: 200, body: dumpOf(version, state, form) };
    }
    case '/debug/pprof/profile': {
      const { cpuProfile } = await import('./cpu-profile.ts');
      return { status: 200, body: await cpuProfile(searchParams.get('seconds')) };
    }
    default:
      return NOT_FOUND;
  }
}

const LATE = 'internal server error: sync Loop took longer than expected\n';

const WELL_BUT_LOOP = '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\n';

const UNHEALTHY: Readonly<Record<KubeletVersion, string>> = {
  'v1.18.8': `${WELL_BUT_LOOP}healthz check failed\n`,
  'v1.18.20': `${WELL_BUT_LOOP}healthz check failed\n`,
  'v1.36.3': `${WELL_BUT_LOOP}[+]device-plugin ok\nhealthz check failed\n`,
};

/**
 * A goroutine dump, recorded from a real kubelet of that minor version without irrelevant
 * goroutines. Blocked: the sync loop hangs on a dead mount of an orphaned pod. Each: one entry per
 * goroutine (debug=2). Counted: one entry per stack (debug=1).
 */
function dumpOf(
  version: KubeletVersion,
  state: 'healthy' | 'blocked',
  form: 'each' | 'counted',
): string {
  const recorded = version === 'v1.18.20' ? 'v1.18.8' : version;
  const name = `${recorded}-${state}-${form}.txt`;
  return isSea()
    ? getAsset(`dumps/${name}`, 'utf8')
    : readFileSync(join(import.meta.dirname, 'dumps', name), 'utf8');
}

/** The metrics page, with only the metrics that checks read. */
function metricsOf(version: KubeletVersion, { wanted: pods, cleanedUp }: SyncLoop): string {
  const lines = [buildLine(version), ...volumeLines(pods)];
  if (!isOld(version)) {
    lines.push(
      `kubelet_running_pods ${pods.length}`,
      `kubelet_orphan_pod_cleaned_volumes ${cleanedUp.orphans}`,
      `kubelet_orphan_pod_cleaned_volumes_errors ${cleanedUp.failed}`,
    );
  }
  return `${lines.join('\n')}\n`;
}

function isOld(version: KubeletVersion): boolean {
  return version.startsWith('v1.18.');
}

/** The labels had other names before 1.19. */
function buildLine(version: KubeletVersion): string {
  const [, minor = ''] = version.split('.');
  const rest = `major="1",minor="${minor}",platform="linux/${process.arch === 'x64' ? 'amd64' : process.arch}"`;
  return isOld(version)
    ? `kubernetes_build_info{compiler="gc",gitVersion="${version}",goVersion="go1.13.15",${rest}} 1`
    : `kubernetes_build_info{compiler="gc",git_version="${version}",go_version="go1.26.8",${rest}} 1`;
}

function volumeLines(pods: readonly Pod[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const volume of pods.flatMap(({ volumes }) => volumes)) {
    const plugin = placeOf(volume)?.plugin.replace('~', '/');
    if (plugin !== undefined) counts.set(plugin, (counts.get(plugin) ?? 0) + 1);
  }
  return [...counts].flatMap(([plugin, count]) =>
    ['actual_state_of_world', 'desired_state_of_world'].map(
      (state) => `volume_manager_total_volumes{plugin_name="${plugin}",state="${state}"} ${count}`,
    ),
  );
}

import type { KubeletVersion } from '../settings.ts';
import { dumpOf } from './dumps.ts';
import { metricsOf } from './metrics.ts';
import type { SyncLoop } from './sync-loop.ts';

export interface Page {
  readonly status: number;
  readonly body: string | Buffer;
}

const NOT_FOUND: Page = { status: 404, body: '404 page not found\n' };

/** What the kubelet answers at an address of its own. */
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
    case '/metrics': {
      const { wanted: pods, cleanedUp } = loop;
      return { status: 200, body: metricsOf({ version, pods, cleanedUp }) };
    }
    case '/debug/pprof/goroutine': {
      const form = searchParams.get('debug') === '1' ? 'counted' : 'each';
      const state = loop.isHeldUp ? 'blocked' : 'healthy';
      return { status: 200, body: dumpOf({ version, state, form }) };
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

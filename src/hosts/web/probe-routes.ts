import { plain, type WebAnswer } from './answer.ts';

export interface Probes {
  /** Undefined when this process is ready. */
  readonly notReadyReason: () => string | undefined;
  readonly metrics: () => string;
}

/** For `StatusError` texts. */
export const PROBE_PATHS = '/metrics, /healthz, /livez, /readyz';

/** What a kubelet and Prometheus ask of a process in a pod; undefined for other paths. */
export function probeAnswer(
  path: readonly string[],
  { notReadyReason, metrics }: Probes,
): WebAnswer | undefined {
  if (path.length !== 1) return undefined;
  switch (path[0]) {
    case 'healthz':
    case 'livez':
      return plain('ok\n');
    case 'readyz': {
      const why = notReadyReason();
      return why === undefined ? plain('ok\n') : plain(`${why}\n`, 503);
    }
    case 'metrics':
      return { code: 200, type: 'text/plain; version=0.0.4; charset=utf-8', body: metrics() };
    default:
      return undefined;
  }
}

import { defineEvidence } from '../../model/evidence.ts';
import { type KubeletPage, originOf, ReadError } from '../../model/node-reader.ts';
import type { Origin } from '../../model/origin.ts';
import { kubelet } from '../kubelet/kubelet.ts';
import { firstAnswer, pagesOf } from '../kubelet/kubelet-page.ts';

export interface VolumeMetrics {
  readonly origin: Origin;
  /** Volumes that the kubelet has mounted, and those that its pods need, by plugin. */
  readonly volumes: ReadonlyMap<string, { readonly actual: number; readonly desired: number }>;
  /** Failed unmounts since the start of the kubelet. */
  readonly unmountErrors: number;
  /** The lines themselves, as proof. */
  readonly lines: readonly string[];
}

export const volumeMetrics = defineEvidence<VolumeMetrics>({
  id: 'volume-metrics',
  title: 'Volume metrics of the kubelet',
  command: 'kubectl get --raw /api/v1/nodes/NODE/proxy/metrics',
  collect: async (snapshot) => {
    const pages = pagesOf(await snapshot.of(kubelet), '/metrics');
    const read = async (page: KubeletPage) => {
      const origin = originOf(page);
      const { status, body } = await snapshot.node.ask('kubelet', page);
      if (status !== 200) throw new ReadError('failed', origin, `HTTP ${status}`);
      return parseVolumeMetrics(body, origin);
    };
    return firstAnswer(pages, read, 'metrics of the kubelet', 'no port');
  },
});

// volume_manager_total_volumes{plugin_name="kubernetes.io/csi",state="actual_state_of_world"} 12
const VOLUMES =
  /^volume_manager_total_volumes\{plugin_name="([^"]*)",state="(actual|desired)_state_of_world"\} (\d+)/;

// storage_operation_duration_seconds_count{operation_name="volume_unmount",status="fail-unknown",...} 48
// storage_operation_errors_total{operation_name="volume_unmount",volume_plugin="kubernetes.io/secret"} 48
// storage_operation_status_count{operation_name="volume_unmount",status="fail-unknown",...} 48
const UNMOUNT_ERRORS =
  /^storage_operation_(errors_total|status_count|duration_seconds_count)\{[^}]*operation_name="volume_unmount"[^}]*\} (\d+)/;

/** The lines of a metrics page that this evidence uses. */
export function volumeMetricLines(body: string): readonly string[] {
  return body.split('\n').filter((line) => VOLUMES.test(line) || isUnmountError(line));
}

function isUnmountError(line: string): boolean {
  if (!UNMOUNT_ERRORS.test(line)) return false;
  return line.startsWith('storage_operation_errors_total') || line.includes('status="fail');
}

export function parseVolumeMetrics(body: string, origin: Origin): VolumeMetrics {
  const volumes = new Map<string, { actual: number; desired: number }>();
  // Some versions count the same failures under two names.
  const errors = new Map<string, number>();
  const lines = volumeMetricLines(body);
  for (const line of lines) {
    const [, plugin = '', state, count] = VOLUMES.exec(line) ?? [];
    if (state === undefined) {
      const [, family = '', failed = '0'] = UNMOUNT_ERRORS.exec(line) ?? [];
      errors.set(family, (errors.get(family) ?? 0) + Number(failed));
    } else {
      const of = volumes.get(plugin) ?? { actual: 0, desired: 0 };
      volumes.set(plugin, { ...of, [state]: Number(count) });
    }
  }
  return { origin, volumes, unmountErrors: Math.max(0, ...errors.values()), lines };
}

import type { KubeletVersion } from '../settings.ts';
import type { CleanedUp } from './orphans.ts';
import type { Pod } from './pod.ts';
import { placeOf } from './volume-files.ts';

export interface Counted {
  readonly version: KubeletVersion;
  readonly pods: readonly Pod[];
  readonly cleanedUp: CleanedUp;
}

/** The page of numbers, as far as anybody reads it who looks for the faults of a node. */
export function metricsOf({ version, pods, cleanedUp }: Counted): string {
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

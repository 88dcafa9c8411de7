import { closeSync, openSync, writeSync } from 'node:fs';

const BATCH_LINES = 10_000;

/** What a kubelet says all day long, and now and then something that we look for. */
const ORDINARY: readonly string[] = [
  'I{t} 4130850 kubelet_getters.go:176] "Pod status updated" pod="kube-system/kube-proxy-{n}" status=Running',
  'I{t} 4130850 prober.go:111] "Probe succeeded" probeType="Readiness" pod="default/web-{n}" podUID="2c69ba04-c0de-46a6-adc7-{n}" containerName="nginx"',
  'I{t} 4130850 reconciler.go:224] "operationExecutor.VerifyControllerAttachedVolume started for volume \\"kube-api-access-{n}\\" (UniqueName: \\"kubernetes.io/projected/2c69ba04-c0de-46a6-adc7-{n}-kube-api-access\\") pod \\"web-{n}\\" "',
  'I{t} 4130850 scope.go:117] "AddContainer" containerID="18b1e68dd2bc5d5ca876651a0457f358586ed6ac90d26b5f0f6e5b{n}"',
  'W{t} 4130850 transport.go:301] Unable to cancel request for *otelhttp.Transport',
  'I{t} 4130850 cpu_manager.go:210] "Updating container" podUID="6f1c2a9e-0000-4e0d-82c1-{n}" containerName="app" cpuset="0-{n}"',
  'E{t} 4130850 pod_workers.go:1298] "Error syncing pod, skipping" err="failed to \\"StartContainer\\" for \\"app\\" with CrashLoopBackOff: \\"back-off 5m0s restarting failed container=app pod=web-{n}_default(6f1c)\\"" pod="default/web-{n}"',
];

const RELEVANT: readonly string[] = [
  'I{t} 4130850 kubelet.go:2012] SyncLoop (housekeeping)',
  'I{t} 4130850 kubelet.go:1966] "SyncLoop (PLEG): event for pod" pod="default/web-{n}" event={"ID":"{n}","Type":"ContainerStarted"}',
  'I{t} 4130850 scope.go:117] "RemoveContainer" containerID="ca80f370dfb5320d7bf7dbc7eed6e7c306729f7b83d6a9ab{n}"',
  'E{t} 4130850 kubelet_volumes.go:154] orphaned pod "067f154f-7ad7-4bbe-b83c-{n}" found, but volume paths are still present on disk : There were a total of 40 errors similar to this.',
];

/** One line in so many is one that we look for; a kubelet at verbosity 4 is about like that. */
const ONE_IN = 20;

/** Writes a log of so many lines; a kubelet would need some days for it. */
export function writeLog(path: string, lines: number): void {
  const file = openSync(path, 'w');
  for (let start = 0; start < lines; start += BATCH_LINES) {
    const count = Math.min(BATCH_LINES, lines - start);
    const batch = Array.from({ length: count }, (_, index) => lineAt(start + index));
    writeSync(file, `${batch.join('\n')}\n`);
  }
  closeSync(file);
}

function lineAt(index: number): string {
  const list = index % ONE_IN === 0 ? RELEVANT : ORDINARY;
  const line = list[Math.floor(index / (list === RELEVANT ? ONE_IN : 1)) % list.length] ?? '';
  const second = new Date(1_774_000_000_000 + index * 250).toISOString();
  const time = `${second.slice(5, 7)}${second.slice(8, 10)} ${second.slice(11, 23)}000`;
  return line.replace('{t}', time).replaceAll('{n}', String(index).padStart(12, '0'));
}

/**
 * The start time of a process in clock ticks since boot, from its /proc/<pid>/stat. PID and start
 * time together identify a process: PIDs are reused. The name may contain spaces and brackets.
 */
export function startTimeOf(stat: string): number | undefined {
  // 812 (kubelet) S 1 812 812 0 -1 4194560 52811 0 0 0 1042 311 0 0 20 0 14 0 1893 ...
  const startTime = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  return Number.isSafeInteger(startTime) ? startTime : undefined;
}

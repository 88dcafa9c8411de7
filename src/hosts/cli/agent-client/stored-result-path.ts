// (70000 bytes: too large for a status, kept beside the store; the agent hands it out at /results/0f8fad5b-d9cb-469f-a165-70867728950e/9b74c9897bac770ffc029102a200c5de)
const LARGE = /^\(\d+ bytes: [^\n()]{1,200}(\/results\/[\da-f-]{36}\/[\da-f]{32})\)$/;
// /var/lib/kubediag/collected/go-profiles/20261115T102233123Z-3f9a-heap.pprof
const COLLECTED = /^\/[^\s]{0,4096}?(\/collected\/[a-z-]+\/\d{8}T\d{9}Z-[\w.-]+)\n?$/;

/** Where the agent hands out what a result only names: a file that was collected, or a large value. */
export function storedResultPath(result: string): string | undefined {
  return (LARGE.exec(result) ?? COLLECTED.exec(result))?.[1];
}

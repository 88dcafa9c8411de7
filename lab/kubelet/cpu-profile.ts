import { type Profiler, Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { PROFILE_INTERVAL_US, PROFILE_SECONDS, PROFILE_SECONDS_MAX } from './limits.ts';
import { pprofOf } from './pprof.ts';

/**
 * A CPU profile of the stand-in kubelet, in the format of any kubelet. The functions are those of
 * JavaScript.
 */
export async function cpuProfile(asked: string | null): Promise<Buffer> {
  const seconds = Number(asked) > 0 ? Number(asked) : PROFILE_SECONDS;
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.setSamplingInterval', { interval: PROFILE_INTERVAL_US });
    await session.post('Profiler.start');
    await sleep(1_000 * Math.min(seconds, PROFILE_SECONDS_MAX));
    const { profile } = await session.post('Profiler.stop');
    return gzipSync(pprofOf(toRecorded(profile)));
  } finally {
    session.disconnect();
  }
}

function toRecorded(profile: Profiler.Profile): Parameters<typeof pprofOf>[0] {
  const { nodes, samples = [], timeDeltas = [], startTime, endTime } = profile;
  const tookUs = endTime - startTime;
  return { nodes, samples, timeDeltas, tookUs, beganMs: Math.round(Date.now() - tookUs / 1_000) };
}

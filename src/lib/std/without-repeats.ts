import { LOG_REPEAT_MS, LOG_REPEATS_MAX } from './limits.ts';

/** Passes a message on, unless the same one was passed on a moment ago: three watches lose one server. */
export function withoutRepeats(
  onMessage: (message: string) => void,
  nowMs: () => number = () => performance.now(),
): (message: string) => void {
  const passed = new Map<string, number>();
  return (message) => {
    const now = nowMs();
    const last = passed.get(message);
    if (last !== undefined && now - last < LOG_REPEAT_MS) return;
    passed.delete(message);
    passed.set(message, now);
    const [oldest] = passed.keys();
    if (passed.size > LOG_REPEATS_MAX && oldest !== undefined) passed.delete(oldest);
    onMessage(message);
  };
}

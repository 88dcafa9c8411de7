// 127.0.0.1, 127.1.2.3, ::1, localhost
const LOOPBACK = /^(127(?:[.]\d{1,3}){3}|::1|localhost)$/i;

/** Whether a host name or an IP address is reachable only from its own machine. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

// 127.0.0.1, 127.1.2.3, ::1, localhost
const LOOPBACK = /^(127(?:[.]\d{1,3}){3}|::1|localhost)$/i;

/** Whether a name or an address of the network is one that only its own machine can reach. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/**
 * A mount as a line of the comparison: "mount TARGET ROOT TYPE SOURCE OPTIONS". Without its ids, which
 * are new at every mount.
 */
export function mountLine(line: string): string {
  // 65 44 254:0 /pods/u1/app.conf /pods/u1/subpath/0 rw,relatime shared:1 - ext4 /dev/vda rw
  const [before = '', after = ''] = line.split(' - ', 2);
  const [, , , root, target, options] = before.split(' ');
  const [type, source] = after.split(' ');
  return `mount ${target} ${root} ${type} ${source} ${options}`;
}

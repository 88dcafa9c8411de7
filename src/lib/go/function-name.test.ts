import { expect, test } from 'vitest';
import { bytesOf } from '../std/text-codec.ts';
import { plainFile, plainFunction } from './function-name.ts';
import { textOfBytes } from './utf8.ts';

test.each([
  [
    'k8s.io/kubernetes/vendor/k8s.io/mount-utils.(*Mounter).List',
    'k8s.io/mount-utils.(*Mounter).List',
  ],
  [
    'github.com/kubeedge/kubeedge/vendor/k8s.io/kubernetes/pkg/kubelet.NewX',
    'k8s.io/kubernetes/pkg/kubelet.NewX',
  ],
  [
    'k8s.io/kubernetes@v1.36.3/pkg/kubelet.(*Kubelet).Run',
    'k8s.io/kubernetes/pkg/kubelet.(*Kubelet).Run',
  ],
  ['vendor/golang.org/x/net/dns.Parse', 'golang.org/x/net/dns.Parse'],
  [
    'k8s.io/kubernetes/Godeps/_workspace/src/github.com/godbus/dbus.(*Conn).Auth',
    'github.com/godbus/dbus.(*Conn).Auth',
  ],
  ['main.main.func1', 'main.main'],
  ['main.main.func1.2', 'main.main'],
  ['main.run.func2.gowrap3', 'main.run'],
  ['main.run.dwrap.12', 'main.run'],
  ['main.run.deferwrap1', 'main.run'],
  ['main.(*T).Run-fm', 'main.(*T).Run'],
  ['a/pleg.(*GenericPLEG).(a/b/pleg.relist)-fm', 'a/pleg.(*GenericPLEG).relist'],
  ['sync.(*Map[...]).Load', 'sync.(*Map).Load'],
  ['slices.SortFunc[go.shape.[]int,go.shape.int]', 'slices.SortFunc'],
  ['runtime.memmove.abi0', 'runtime.memmove'],
  ['main.functional', 'main.functional'],
  ['example.com/vendored/x.F', 'example.com/vendored/x.F'],
])('%s is %s', (raw, plain) => {
  expect(plainFunction(raw)).toBe(plain);
});

test.each([
  [
    '/workspace/anago-v1/src/k8s.io/kubernetes/_output/dockerized/go/src/k8s.io/kubernetes/pkg/a.go',
    'k8s.io/kubernetes/pkg/a.go',
  ],
  ['/go/src/k8s.io/kubernetes/pkg/a.go', 'k8s.io/kubernetes/pkg/a.go'],
  ['/usr/lib/go-1.19/src/os/stat.go', '/usr/lib/go-1.19/src/os/stat.go'],
])('the file %s is %s', (raw, plain) => {
  expect(plainFile(raw)).toBe(plain);
});

test('text is encoded as UTF-8, and invalid bytes are decoded as U+FFFD', () => {
  const text = 'a·é漢😀\u0000';
  expect([...bytesOf(text)]).toEqual([...Buffer.from(text)]);
  expect(textOfBytes(Buffer.from(text))).toBe(text);
  expect(textOfBytes(Uint8Array.of(0x61, 0xff, 0xc3, 0x28, 0xe6, 0xbc))).toBe(
    'a\ufffd\ufffd(\ufffd',
  );
  expect([...bytesOf('\udcff')]).toEqual([0xff]);
});

// k8s.io/kubernetes/vendor/k8s.io/mount-utils.(*Mounter).List
// k8s.io/kubernetes/Godeps/_workspace/src/github.com/godbus/dbus.(*Conn).outWorker
const EMBEDDED = /^.*(?:^|\/)(?:vendor|Godeps\/_workspace\/src|_output\/[^()]*?go\/src|go\/src)\//;

// k8s.io/kubernetes@v1.36.3/pkg/kubelet.(*Kubelet).syncLoop
const MODULE_VERSION = /@v[^/()]+(?=\/)/g;

// k8s.io/kubernetes/pkg/kubelet/pleg.(*GenericPLEG).(k8s.io/kubernetes/pkg/kubelet/pleg.relist)-fm
const OLD_METHOD_VALUE = /[.]\((?:[^()]*[./])?([^()./]+)\)-fm$/;

// sync.(*Map[...]).Load, slices.SortFunc[go.shape.int]
const TYPE_PARAMETERS = /\[[^[\]]*(?:\[[^[\]]*\][^[\]]*)*\]/g;

// os.statNolog.func1, wait.Until.func1.2, kubelet.Run.gowrap3, kubelet.Run.dwrap.12, memeqbody.abi0
const CLOSURE = /(?:[.](?:func\d+(?:[.]\d+)*|dwrap[.]\d+|(?:go|defer)wrap\d+|abi0)|-fm|-range\d+)$/;

/**
 * The name of a function, independent of the build: without the directories into which
 * its package was copied, and without what the compiler appended to it.
 */
export function plainFunction(raw: string): string {
  let name = raw.replace(MODULE_VERSION, '').replace(OLD_METHOD_VALUE, '.$1');
  name = name.replace(EMBEDDED, '').replace(TYPE_PARAMETERS, '');
  while (CLOSURE.test(name)) name = name.replace(CLOSURE, '');
  return name;
}

// /workspace/anago-v1.11.5/src/k8s.io/kubernetes/_output/dockerized/go/src/k8s.io/kubernetes/pkg/x.go
const BUILD_ROOT = /^.*\/(?:_output\/(?:dockerized|local)\/)?go\/src\//;

/** A file as its package knows it, without the directories of the build machine. */
export function plainFile(raw: string): string {
  return raw.replace(BUILD_ROOT, '');
}

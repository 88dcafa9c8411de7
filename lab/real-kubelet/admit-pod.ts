import type { StoredObject } from './object-store.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * The defaults that an API server and a scheduler add to a pod: a kubelet relies on some of them. The
 * practice node has no pod network, so each pod uses the host network.
 */
export function admitPod(pod: StoredObject, nodeName: string): StoredObject {
  const spec = (pod.spec ?? {}) as Fields;
  return {
    ...pod,
    spec: {
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'Default',
      securityContext: {},
      schedulerName: 'default-scheduler',
      enableServiceLinks: false,
      automountServiceAccountToken: false,
      ...spec,
      nodeName,
      hostNetwork: true,
      ...each(spec, 'containers', admitContainer),
      ...each(spec, 'initContainers', admitContainer),
      ...each(spec, 'volumes', admitVolume),
    },
    status: pod.status ?? { phase: 'Pending', qosClass: 'BestEffort' },
  };
}

function each(spec: Fields, name: string, admit: (entry: Fields) => Fields): Fields {
  const entries = spec[name] as readonly Fields[] | undefined;
  return entries ? { [name]: entries.map(admit) } : {};
}

function admitContainer(container: Fields): Fields {
  return {
    resources: {},
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
    imagePullPolicy: 'IfNotPresent',
    ...container,
  };
}

/** Sources that are written as files and need a default mode. */
const WRITTEN = ['configMap', 'secret', 'downwardAPI', 'projected'];
const FILE_MODE = 0o644;

function admitVolume(volume: Fields): Fields {
  const written = WRITTEN.filter((source) => source in volume);
  const withMode = written.map((source) => {
    const settings = volume[source] as Fields;
    return [source, { defaultMode: FILE_MODE, ...settings }] as const;
  });
  return { ...volume, ...Object.fromEntries(withMode) };
}

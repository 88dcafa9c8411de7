/** The names of a container runtime: process, systemd unit, package. */
interface ServiceNames {
  readonly program: string;
  /** The process names. */
  readonly names: readonly string[];
  readonly units: readonly string[];
  /** Where it stores images and containers. */
  readonly folder: string;
}

/** Process and unit have the name of the program unless set. */
type Service = Pick<ServiceNames, 'program' | 'folder'> & Partial<ServiceNames>;

const CONTAINERD: Service = { program: 'containerd', folder: '/var/lib/containerd' };

const SERVICES: readonly (Service & { readonly socket: RegExp })[] = [
  {
    socket: /crio/, // /run/crio/crio.sock
    program: 'crio',
    units: ['crio.service', 'cri-o.service'],
    folder: '/var/lib/containers',
  },
  {
    socket: /k3s/, // /run/k3s/containerd/containerd.sock: k3s and rke2 start their own
    program: 'containerd',
    names: ['containerd', 'k3s-server', 'k3s-agent'],
    units: ['k3s.service', 'k3s-agent.service', 'rke2-agent.service', 'rke2-server.service'],
    folder: '/var/lib/rancher',
  },
  {
    socket: /microk8s/,
    program: 'containerd',
    units: ['snap.microk8s.daemon-containerd.service'],
    folder: '/var/snap/microk8s/common/var/lib/containerd',
  },
  {
    socket: /k0s/,
    program: 'containerd',
    units: ['k0sworker.service', 'k0scontroller.service'],
    folder: '/var/lib/k0s/containerd',
  },
  {
    socket: /cri-dockerd/,
    program: 'cri-dockerd',
    names: ['cri-dockerd', 'dockerd'],
    units: ['cri-docker.service', 'docker.service'],
    folder: '/var/lib/docker',
  },
  {
    socket: /dockershim/,
    program: 'dockerd',
    units: ['docker.service'],
    folder: '/var/lib/docker',
  },
  { socket: /isulad/, program: 'isulad', folder: '/var/lib/isulad' },
];

/** The service that listens at a socket, by the paths that distributions use. */
export function serviceAt(path: string): ServiceNames {
  const service = SERVICES.find(({ socket }) => socket.test(path)) ?? CONTAINERD;
  return { names: [service.program], units: [`${service.program}.service`], ...service };
}

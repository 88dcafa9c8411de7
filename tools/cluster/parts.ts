import { join } from 'node:path';
import { PLACES } from '../../lab/places.ts';
import type { Binaries } from './binaries.ts';
import type { Certificates } from './certificates.ts';
import { CONTROL_PLANE_ADDRESS, nodeAddress, POD_RANGE, SERVICE_RANGE } from './network.ts';
import type { PartPlan } from './part.ts';

type ControlPlanePartName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kube-scheduler';

export type NodePartName = 'containerd' | 'kube-proxy' | 'kubelet';

export type PartName = ControlPlanePartName | NodePartName;

export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  readonly certificates: Certificates;
  /** Kubeconfigs, as files. */
  readonly files: {
    readonly controllerManager: string;
    readonly scheduler: string;
  };
  /** The directory that stands for "/" of the Debian packages. */
  readonly packages: string;
}

export interface NodePartsOptions {
  readonly name: string;
  readonly index: number;
  readonly binaries: Binaries;
  /** Settings and kubeconfigs, as files. */
  readonly files: {
    readonly containerd: string;
    readonly proxyConfig: string;
    readonly kubeletKubeconfig: string;
    readonly kubeletConfig: string;
  };
  readonly kubeletFlags: readonly string[];
  readonly containerdCgroup: readonly string[];
  /** The directory that stands for "/" of the Debian packages. */
  readonly packages: string;
}

const ETCD = 'http://127.0.0.1:2379';

function planOf<Name extends string>(name: Name, program: string, words: readonly string[]) {
  return { name, program, words };
}

/** Every program of the control plane, and its arguments. */
export function controlPlanePlans(
  options: ControlPlaneOptions,
): Readonly<Record<ControlPlanePartName, PartPlan>> {
  const { binaries, files, packages } = options;
  return {
    etcd: planOf('etcd', join(packages, 'usr/bin/etcd'), [
      '--data-dir=/var/lib/etcd',
      `--listen-client-urls=${ETCD}`,
      `--advertise-client-urls=${ETCD}`,
      '--listen-peer-urls=http://127.0.0.1:2380',
      // What is thrown away in the end need not survive a power cut.
      '--unsafe-no-fsync',
    ]),
    'kube-apiserver': planOf(
      'kube-apiserver',
      binaries['kube-apiserver'],
      apiServerArguments(options),
    ),
    'kube-controller-manager': planOf(
      'kube-controller-manager',
      binaries['kube-controller-manager'],
      controllerManagerArguments(options),
    ),
    'kube-scheduler': planOf('kube-scheduler', binaries['kube-scheduler'], [
      `--kubeconfig=${files.scheduler}`,
      '--leader-elect=false',
    ]),
  };
}

/** Every program of a node, and its arguments. */
export function nodePlans(options: NodePartsOptions): Readonly<Record<NodePartName, PartPlan>> {
  const { binaries, files, packages } = options;
  return {
    containerd: {
      ...planOf('containerd', join(packages, 'usr/bin/containerd'), ['-c', files.containerd]),
      cgroup: options.containerdCgroup,
    },
    'kube-proxy': planOf('kube-proxy', binaries['kube-proxy'], [`--config=${files.proxyConfig}`]),
    kubelet: planOf('kubelet', binaries.kubelet, [
      `--config=${files.kubeletConfig}`,
      `--kubeconfig=${files.kubeletKubeconfig}`,
      `--root-dir=${PLACES.kubeletRoot}`,
      `--hostname-override=${options.name}`,
      `--node-ip=${nodeAddress(options.index)}`,
      ...options.kubeletFlags,
      '--v=2',
    ]),
  };
}

function apiServerArguments({ certificates }: ControlPlaneOptions): readonly string[] {
  const { authority, apiServer, apiServerToKubelet, serviceAccounts } = certificates;
  return [
    `--etcd-servers=${ETCD}`,
    `--advertise-address=${CONTROL_PLANE_ADDRESS}`,
    '--secure-port=6443',
    `--service-cluster-ip-range=${SERVICE_RANGE}`,
    `--tls-cert-file=${apiServer.certificate}`,
    `--tls-private-key-file=${apiServer.key}`,
    `--client-ca-file=${authority.certificate}`,
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    `--service-account-key-file=${serviceAccounts.publicKey}`,
    `--service-account-signing-key-file=${serviceAccounts.key}`,
    `--kubelet-client-certificate=${apiServerToKubelet.certificate}`,
    `--kubelet-client-key=${apiServerToKubelet.key}`,
    `--kubelet-certificate-authority=${authority.certificate}`,
    '--kubelet-preferred-address-types=InternalIP',
    '--allow-privileged=true',
  ];
}

function controllerManagerArguments(options: ControlPlaneOptions): readonly string[] {
  const { authority, serviceAccounts } = options.certificates;
  return [
    `--kubeconfig=${options.files.controllerManager}`,
    `--root-ca-file=${authority.certificate}`,
    `--service-account-private-key-file=${serviceAccounts.key}`,
    `--cluster-signing-cert-file=${authority.certificate}`,
    `--cluster-signing-key-file=${authority.key}`,
    // Each controller gets a service account, and with it its own rights only.
    '--use-service-account-credentials',
    `--cluster-cidr=${POD_RANGE}`,
    `--flex-volume-plugin-dir=${PLACES.kubeletRoot}/volume-plugins`,
    '--leader-elect=false',
  ];
}

export function proxyConfig(nodeName: string, kubeconfig: string): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'iptables',
    clientConnection: { kubeconfig },
    clusterCIDR: POD_RANGE,
    hostnameOverride: nodeName,
    // The size of that table is the machine's matter.
    conntrack: { maxPerCore: 0, min: 0 },
  };
}

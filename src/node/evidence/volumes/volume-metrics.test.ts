import { expect, test } from 'vitest';
import { redactAnswer } from '../../redaction/redact.ts';
import { parseVolumeMetrics } from './volume-metrics.ts';

const PAGE = [
  '# TYPE volume_manager_total_volumes gauge',
  'volume_manager_total_volumes{plugin_name="kubernetes.io/csi",state="actual_state_of_world"} 40',
  'volume_manager_total_volumes{plugin_name="kubernetes.io/csi",state="desired_state_of_world"} 3',
  'storage_operation_errors_total{operation_name="volume_mount",volume_plugin="a"} 900',
  'storage_operation_errors_total{operation_name="volume_unmount",volume_plugin="a"} 40',
  'storage_operation_errors_total{operation_name="volume_unmount",volume_plugin="b"} 8',
  'storage_operation_status_count{operation_name="volume_unmount",status="fail-unknown",volume_plugin="a"} 40',
  'storage_operation_status_count{operation_name="volume_unmount",status="success",volume_plugin="a"} 700',
  'kubernetes_build_info{git_version="v1.18.8"} 1',
  'container_secret_total{token="abc"} 1',
  '',
].join('\n');

const ORIGIN = { url: '/metrics' };

test('counts volumes by plugin, and failed unmounts once, from either metric', () => {
  const { volumes, unmountErrors } = parseVolumeMetrics(PAGE, ORIGIN);
  expect(volumes.get('kubernetes.io/csi')).toEqual({ actual: 40, desired: 3 });
  expect(unmountErrors).toBe(48);
});

test('newer kubelets count failures in the duration metric', () => {
  const line =
    'storage_operation_duration_seconds_count{migrated="false",operation_name="volume_unmount",status="fail-unknown",volume_plugin="a"} 5';
  expect(parseVolumeMetrics(`${line}\n`, ORIGIN).unmountErrors).toBe(5);
});

test('redacted metrics give the same counts, and contain nothing else', () => {
  const asked = { scheme: 'http', address: '127.0.0.1', port: 10255, path: '/metrics' } as const;
  const { body } = redactAnswer('kubelet', asked, { status: 200, body: PAGE });
  expect(parseVolumeMetrics(body, ORIGIN)).toEqual(parseVolumeMetrics(PAGE, ORIGIN));
  expect(body).not.toContain('token');
  expect(body).not.toContain('volume_mount"');
});

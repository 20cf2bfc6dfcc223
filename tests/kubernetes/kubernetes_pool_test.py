"""usage: kubernetes_pool_test.py NAVTALK FAKE_WORKER   the pool of the real binary against a fake Kubernetes API server"""

import base64
import json
import os
import pathlib
import shutil
import ssl
import subprocess
import time
import unittest

from pool_case import FAKE_WORKER, PATIENCE_S, ROW, TOKEN, FakeCluster, PoolCase

POOL = "navtalk/pool-id"
SAFE = "cluster-autoscaler.kubernetes.io/safe-to-evict"


class Kubernetes(PoolCase):
    def test_pods_come_serve_and_go(self):
        self.pool.configure(pods=3)
        self.settle(3)  # two pages of the list
        pod = self.cluster.living()[0]
        self.assertEqual(pod["metadata"]["labels"]["app.kubernetes.io/managed-by"], "navtalk")
        self.assertEqual(pod["spec"]["containers"][0]["resources"]["limits"], {"nvidia.com/gpu": "1"})
        self.pool.configure(pods=0)
        with self.pool.scaling():
            self.wait("an empty cluster", lambda: not self.cluster.living() and not self.pool.rows())
        uids = {call["body"]["preconditions"]["uid"] for call in self.cluster.calls("delete")}
        self.assertEqual(uids, set(self.cluster.ever))

    def test_settings_reach_the_pod(self):
        self.pool.configure(
            extra='gpus = 2\ngpu_resource = "amd.com/gpu"\nnode_selector = ["pool=a100", "zone=b"]\n'
            'tolerations = ["nvidia.com/gpu:NoSchedule", "team=video"]\nimage_pull_secrets = ["registry"]\n'
            'priority_class = "live"\nruntime_class = "nvidia"\nslots = 3'
        )
        self.settle()
        spec = self.cluster.living()[0]["spec"]
        self.assertEqual(spec["containers"][0]["resources"]["limits"], {"amd.com/gpu": "2"})
        self.assertEqual(spec["nodeSelector"], {"pool": "a100", "zone": "b"})
        self.assertEqual(
            spec["tolerations"],
            [
                {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
                {"key": "team", "operator": "Equal", "value": "video"},
            ],
        )
        self.assertEqual(spec["imagePullSecrets"], [{"name": "registry"}])
        self.assertEqual((spec["priorityClassName"], spec["runtimeClassName"]), ("live", "nvidia"))
        self.assertEqual(self.pool.rows()[0]["slots"], 3)

    def test_killed_before_the_pod_is_made(self):
        self.cluster.fault("create", how="hang")
        with self.pool.scaling():
            self.wait("the create", lambda: self.cluster.calls("create"))
            # Recorded before it was asked for.
            self.assertEqual([row["name"].lower() for row in self.pool.rows()], [self.cluster.calls("create")[0]["body"]["metadata"]["name"]])
        self.settle()
        self.assertEqual(len(self.cluster.ever), 1)

    def test_killed_between_the_pod_and_its_record(self):
        self.cluster.fault("create", how="hang", acts=True)
        with self.pool.scaling():
            self.wait("the pod", self.cluster.living)
            self.assertEqual([row["provider_id"] for row in self.pool.rows()], [None])
        self.settle()
        self.assertEqual(len(self.cluster.calls("create")), 1)

    def test_a_create_that_was_done_and_answered_wrongly_is_not_a_second_pod(self):
        self.cluster.fault("create", status=500, acts=True)
        self.settle()
        self.assertEqual(len(self.cluster.ever), 1)
        self.assertEqual(len(self.cluster.calls("create")), 2)  # the second one was told 409

    def test_a_busy_server_is_asked_again_when_it_says(self):
        self.cluster.fault("create", status=429, retry_after=1, times=2)
        began = time.monotonic()
        self.settle()
        self.assertGreater(time.monotonic() - began, 2)
        self.assertEqual(len(self.cluster.ever), 1)

    def test_no_node_is_no_capacity_and_leaves_no_pod(self):
        self.cluster.set_gpus(0)
        with self.pool.scaling():
            self.wait("a pod that is given up", lambda: self.cluster.calls("delete"))
            body = self.cluster.calls("delete")[0]["body"]
            self.assertEqual(set(body["preconditions"]), {"uid", "resourceVersion"})
            self.assertEqual(body["gracePeriodSeconds"], 0)
            self.wait("the reason", lambda: "no node of the cluster has room" in self.pool.events())
            self.assertEqual(self.cluster.living(), [])
            self.cluster.set_gpus(5)
            self.wait("a pod with a node", lambda: any(row["state"] == "idle" for row in self.pool.rows()))

    def test_a_pod_that_changes_while_it_is_given_up_is_given_up_all_the_same(self):
        self.cluster.set_gpus(0)

        def scheduler_reports_again():
            (pod,) = self.cluster.pods.values()
            self.cluster.touch(pod)
            if len(self.cluster.calls("delete")) < 2:
                self.cluster.before["delete"] = scheduler_reports_again

        self.cluster.before["delete"] = scheduler_reports_again
        with self.pool.scaling():
            self.wait("the reason", lambda: "no node of the cluster has room" in self.pool.events())
            self.assertEqual(self.cluster.living(), [])
            self.assertGreaterEqual(len(self.cluster.calls("delete")), 3)

    def test_a_pod_that_gets_a_node_at_the_last_moment_stays(self):
        self.cluster.set_gpus(0)
        self.cluster.before["delete"] = lambda: self.cluster.set_gpus(1)
        self.settle()
        self.assertEqual((len(self.cluster.ever), len(self.cluster.calls("delete"))), (1, 1))

    def test_a_quota_is_no_capacity_and_another_refusal_is_told(self):
        quota = 'pods "x" is forbidden: exceeded quota: gpus, requested: 1, used: 4, limited: 4'
        self.cluster.fault("create", status=403, message=quota)
        with self.pool.scaling():
            self.wait("the quota's words", lambda: "exceeded quota" in self.pool.events())
        self.assertNotIn("Kubernetes refuses", (self.pool.folder / "log").read_text())
        self.settle()

    def test_an_expired_list_is_read_again_and_a_broken_one_changes_nothing(self):
        self.pool.configure(pods=3)
        self.settle(3)
        self.cluster.fault("list", status=410, times=2)
        self.settle(3)
        self.cluster.fault("list", status=200, body="<html>", times=3)
        self.settle(3)
        self.assertEqual(len(self.cluster.ever), 3)

    def test_an_evicted_pod_is_replaced_and_its_object_removed(self):
        self.settle()
        first = self.cluster.living()[0]["metadata"]["name"]
        process = self.cluster.processes[first]
        process.kill()
        self.cluster.change(first, phase="Failed", reason="Evicted")
        with self.pool.scaling():
            self.wait("another pod", lambda: self.settled() and self.cluster.living()[0]["metadata"]["name"] != first)

    def test_only_a_pod_with_a_session_is_kept_from_the_autoscaler(self):
        self.pool.configure(pods=2)
        self.settle(2)
        marks = lambda: {pod["metadata"]["annotations"][ROW]: pod["metadata"]["annotations"][SAFE] for pod in self.cluster.living()}
        self.assertEqual(set(marks().values()), {"true"})
        busy, idle = sorted(marks())
        self.cluster.fault("patch", status=429, retry_after=1)
        with self.pool.scaling():
            self.pool.begin_session(busy)
            self.wait("the mark", lambda: (marks()[busy], marks()[idle]) == ("false", "true"))
            self.assertEqual({call["body"]["metadata"]["uid"] for call in self.cluster.calls("patch")}, {self.cluster.uid(busy)})
            self.pool.end_session(busy)
            self.wait("its end", lambda: set(marks().values()) == {"true"})

    def test_pods_go_with_what_owns_them(self):
        owner = self.cluster.own("Deployment", "navtalk")
        self.pool.configure(extra='owner = "Deployment/navtalk"')
        self.settle()
        references = self.cluster.living()[0]["metadata"]["ownerReferences"]
        self.assertEqual(references, [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "navtalk", "uid": owner}])
        # The release is made anew: the old pods go, and new ones have the new owner.
        self.cluster.disown(owner)
        self.assertEqual(self.cluster.living(), [])
        with self.pool.scaling():
            self.wait("the reason", lambda: "Deployment/navtalk, which kubernetes.owner names" in self.pool.events())
            self.assertEqual(self.cluster.living(), [])
            again = self.cluster.own("Deployment", "navtalk")
            owners = lambda: [pod["metadata"]["ownerReferences"][0]["uid"] for pod in self.cluster.living()]
            self.wait("a pod of the new owner", lambda: owners() == [again])

    def test_the_emptiest_node_is_left_first(self):
        self.cluster.nodes = {"small": 1, "big": 5}
        self.pool.configure(pods=1)
        self.settle(1)
        self.pool.configure(pods=4)
        self.settle(4)
        nodes = lambda: sorted(pod["spec"]["nodeName"] for pod in self.cluster.living())
        self.assertEqual(nodes(), ["big", "big", "big", "small"])
        self.pool.configure(pods=3)
        self.settle(3)  # the newest one stays
        self.assertEqual(nodes(), ["big", "big", "big"])

    def test_a_pod_of_another_pool_is_left_alone(self):
        self.cluster.create(
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {"name": "navtalk-test-00000000-1", "labels": {POOL: "00000000"}},
                "spec": {"containers": [{"name": "worker", "args": [], "env": [], "resources": {"limits": {}}}]},
            }
        )
        with self.pool.scaling():
            self.wait("its own pod", lambda: len(self.cluster.living()) == 2 and len(self.pool.rows()) == 1)
        self.pool.configure(pods=0)
        with self.pool.scaling():
            self.wait("only the other pod", lambda: len(self.cluster.living()) == 1 and not self.pool.rows())
        self.assertEqual(self.cluster.living()[0]["metadata"]["name"], "navtalk-test-00000000-1")

    def test_another_cloud_does_not_take_the_pods_for_gone(self):
        self.settle()
        self.pool.configure(image="")
        done = self.pool.run("pool", "scale")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("pods of a Kubernetes cluster", done.stderr)
        self.assertEqual(len(self.cluster.living()), 1)

    def kubectl(self, *arguments, text=None):
        """Debian's kubernetes-client, or another one: a client that knows nothing of this fake."""
        where = ["--server", self.cluster.url, "--namespace", "gpus", "--cache-dir", str(self.pool.folder / "kubectl")]
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.pool.folder), "KUBECONFIG": os.devnull}
        ran = subprocess.run(["kubectl", *where, *arguments], input=text, env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        return ran.stdout

    @unittest.skipIf(shutil.which("kubectl") is None, "there is no kubectl")
    def test_kubectl_sees_and_changes_the_same_pods(self):
        self.pool.configure(pods=3)
        rows = self.settle(3)  # kubectl reads two pages
        seen = json.loads(self.kubectl("get", "pods", "--chunk-size", "2", "-l", "app.kubernetes.io/managed-by=navtalk", "-o", "json"))["items"]
        self.assertEqual({pod["metadata"]["annotations"][ROW] for pod in seen}, {row["name"] for row in rows})
        # What navtalk sent is what kubectl creates: the same manifest under another name is taken too.
        other = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "another"}, "spec": seen[0]["spec"]}
        del other["spec"]["nodeName"]
        other["metadata"]["labels"] = {POOL: "00000000"}
        self.kubectl("create", "--validate=false", "-f", "-", text=json.dumps(other))
        self.kubectl("annotate", "pod", "another", f"{SAFE}=false")
        self.assertEqual(json.loads(self.kubectl("get", "pod", "another", "-o", "json"))["metadata"]["annotations"], {SAFE: "false"})
        self.kubectl("delete", "pod", "another", "--wait=false")
        name = seen[0]["metadata"]["name"]
        self.kubectl("delete", "pod", name, "--wait=false")
        self.assertEqual({pod["metadata"]["name"] for pod in self.cluster.living()}, {pod["metadata"]["name"] for pod in seen[1:]})
        with self.pool.scaling():
            self.wait("another pod in its place", lambda: self.settled(3))

    def certificate(self, name, purpose):
        """A key and a certificate that it signed itself, both as kubeconfig wants them."""
        where = [str(self.pool.folder / f"{name}.{part}") for part in ("key", "crt")]
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
        extras = ["-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-addext", f"extendedKeyUsage={purpose}"]
        subprocess.run([*command, *extras, "-keyout", where[0], "-out", where[1]], check=True, capture_output=True)
        return [base64.b64encode(pathlib.Path(one).read_bytes()).decode() for one in where]

    def test_a_kubeconfig_is_enough(self):
        _, authority = self.certificate("server", "serverAuth")
        key, client = self.certificate("client", "clientAuth")
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(self.pool.folder / "server.crt", self.pool.folder / "server.key")
        tls.load_verify_locations(self.pool.folder / "client.crt")
        tls.verify_mode = ssl.CERT_REQUIRED
        self.cluster = FakeCluster(FAKE_WORKER, tls=tls)
        self.addCleanup(self.cluster.close)
        # JSON is YAML.
        kubeconfig = {
            "current-context": "elsewhere",
            "clusters": [{"name": "c", "cluster": {"server": self.cluster.url, "certificate-authority-data": authority}}],
            "contexts": [{"name": "mine", "context": {"cluster": "c", "user": "u", "namespace": "gpus"}}],
            "users": [{"name": "u", "user": {"client-certificate-data": client, "client-key-data": key}}],
        }
        (self.pool.folder / "config").write_text(json.dumps(kubeconfig))
        self.pool.access = f'kubeconfig = "{self.pool.folder}/config"\ncontext = "mine"'
        self.pool.configure()
        self.settle()
        # A server that this authority does not vouch for is not spoken to.
        kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"] = client
        (self.pool.folder / "config").write_text(json.dumps(kubeconfig))
        before = len(self.cluster.requests)
        self.assertIn("certificate", self.pool.run("pool", "scale").stderr)
        self.assertEqual(len(self.cluster.requests), before)
        kubeconfig["users"][0]["user"] = {"exec": {"command": "a-plugin"}}
        (self.pool.folder / "config").write_text(json.dumps(kubeconfig))
        self.assertIn("has 'exec', which navtalk does not support", self.pool.run("pool", "scale").stderr)

    def test_a_wrong_token_is_told(self):
        (self.pool.folder / "token").write_text("another\n")
        with self.pool.scaling():
            self.wait("the refusal", lambda: "401" in self.pool.events())
        self.assertEqual(self.cluster.living(), [])
        (self.pool.folder / "token").write_text(TOKEN)


if __name__ == "__main__":
    unittest.main(verbosity=2)

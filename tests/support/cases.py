"""Cases of unittest that ask a real mired."""

import pathlib
import unittest

import mired
from answers import answer_of


class Served(unittest.TestCase):
    """One mired with these settings for all tests of the class, in a folder of its own."""

    settings = ()

    @classmethod
    def setUpClass(cls):
        scratch = mired.scratch(cls.__name__.lower())
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        cls.server = mired.Mired(cls.folder, *cls.settings)
        cls.addClassCleanup(cls.server.stop)


class OwnApp(Served):
    """Each test has an app of its own, named after the test, and two keys that mired knows."""

    def setUp(self):
        self.app = self.id().rsplit("test_")[-1].replace("_", "-")[:40]
        self.ingest, self.admin = self.server.key(self.app, "ingest"), self.server.key(self.app, "admin")
        self.path = f"/api/v1/apps/{self.app}"
        mired.until("one key is known", lambda: self.server.ask("GET", "/api/v1/rollout", self.ingest)[0] == 200)
        mired.until("the other is known", lambda: self.server.ask("GET", self.path + "/settings", self.admin)[0] == 200)

    def get(self, path, name, code=200):
        """The answer of an operation about the app."""
        status, _, body = self.server.ask("GET", self.path + path, self.admin)
        self.assertEqual(status, code, body)
        return answer_of(body, name)

    def count(self, table, what="*", where="true"):
        return int(self.server.sql(f"SELECT count({what}) FROM {table} JOIN app USING (app_id) WHERE slug = '{self.app}' AND {where}")[0])

    def issues(self):
        return [one for group in self.get("/issues", "listIssues")["groups"] for one in group["issues"]]

    def only_issue(self):
        found = self.issues()
        self.assertEqual(len(found), 1)
        return found[0]

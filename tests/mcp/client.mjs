// client.mjs - an assistant's side: starts `mire mcp`, makes the calls given as JSON on standard input, prints what came.
//   argv: the command of the server; stdin: [[method, parameters]...]; stdout: {server, tools, answers: [...]}
import { readFileSync } from "node:fs";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [command, ...args] = process.argv.slice(2);
const calls = JSON.parse(readFileSync(0, "utf8"));
const client = new Client({ name: "mire-test", version: "1.0.0" });
await client.connect(new StdioClientTransport({ command, args, env: { ...process.env } }));
const answers = [];
for (const [method, parameters] of calls) {
  try {
    answers.push(await client[method](parameters));
  } catch (error) {
    answers.push({ code: error.code, message: error.message });
  }
}
const { tools } = await client.listTools();
console.log(JSON.stringify({ server: client.getServerVersion(), capabilities: client.getServerCapabilities(), tools, answers }));
await client.close();

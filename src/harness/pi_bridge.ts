/*
 * Lets i-insist decide on what Pi's agent does. One question is one process:
 *
 *     PROGRAM hook --harness pi EVENT      the question on stdin, the answer on stdout, status 0
 *
 *     event                when                                 what the answer may hold
 *     session-start        a session starts or goes on          guidance (for the first turn), notice
 *     user-prompt-submit   a person's message                   notice
 *     pre-tool-use         before each call of a tool           decision "block" and reason, or
 *                                                               input, guidance, after; notice
 *     post-tool-use        behind a call that said `after`      guidance, notice
 *     before-finish        the agent is about to stop           continue and message; notice
 *
 * Nothing, or {}, is a pass. Whatever else comes about a call, or nothing in time, blocks it.
 *
 * PROGRAM and SECONDS stand above, written by the installer. All imports from Pi are types, so that
 * nothing has to be found when Pi loads this file.
 */
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";

interface Answer {
	decision?: "block";
	reason?: string; // for the agent
	input?: Record<string, unknown>; // all arguments of the call that shall run
	guidance?: string; // for the agent, beside the result
	after?: boolean; // ask again when the result is there
	continue?: boolean;
	message?: string; // for the agent that goes on
	notice?: string; // for the person
	systemMessage?: string; // the same, when the program died
}

const TYPES: Record<keyof Answer, string> = {
	decision: "string",
	reason: "string",
	input: "object",
	guidance: "string",
	after: "boolean",
	continue: "boolean",
	message: "string",
	notice: "string",
	systemMessage: "string",
};

const MAX_ANSWER = 16 * 1024 * 1024; // a rewrite holds the whole new text of a file
const MAX_STDERR = 4096;
const GRACE_MS = 5_000; // for the program to end what it started

const running = new Set<(why: string) => void>(); // ends the questions that are being asked

function kind(value: unknown): string {
	if (value === null) return "null";
	return Array.isArray(value) ? "array" : typeof value;
}

/** The answer in `text`; throws on anything that is none. */
function read(text: string): Answer {
	if (text.trim() === "") return {};
	const answer = JSON.parse(text);
	if (kind(answer) !== "object") throw new Error(`its answer is no object: ${text.slice(0, 200)}`);
	for (const [key, value] of Object.entries(answer)) {
		if (!Object.hasOwn(TYPES, key)) throw new Error(`its answer has an unknown key: ${key}`);
		if (kind(value) !== TYPES[key as keyof Answer]) throw new Error(`its answer has a wrong ${key}`);
	}
	if (answer.decision !== undefined && answer.decision !== "block") {
		throw new Error(`its answer has an unknown decision: ${answer.decision}`);
	}
	return answer;
}

/** Asks the program. Rejects when no answer came that can be used. */
function ask(event: string, question: object, seconds: number, signal?: AbortSignal): Promise<Answer> {
	return new Promise((resolve, reject) => {
		if (signal?.aborted) return reject(new Error("the person stopped it"));
		const child = spawn(PROGRAM, ["hook", "--harness", "pi", event], { stdio: "pipe" });
		let out = "";
		let err = "";
		const settle = (end: () => void) => {
			clearTimeout(timer);
			signal?.removeEventListener("abort", aborted);
			running.delete(stop);
			end();
		};
		// The end of its stdin and SIGTERM both tell the program that nobody waits any more; it then
		// ends what it has started. Nothing here waits for that.
		const stop = (why: string) => {
			settle(() => reject(new Error(why)));
			child.stdin.destroy();
			child.stdout.destroy();
			child.stderr.destroy();
			child.kill("SIGTERM");
			setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
		};
		const aborted = () => stop("the person stopped it");
		const timer = setTimeout(() => stop(`${PROGRAM} gave no answer within ${seconds} s`), seconds * 1000);
		signal?.addEventListener("abort", aborted, { once: true });
		running.add(stop);
		child.on("error", (error) => settle(() => reject(new Error(`${PROGRAM} cannot be started: ${error.message}`))));
		child.stdout.setEncoding("utf8").on("data", (text: string) => {
			out += text;
			if (out.length > MAX_ANSWER) stop(`${PROGRAM} gave too long an answer`);
		});
		child.stderr.setEncoding("utf8").on("data", (text: string) => {
			err = (err + text).slice(0, MAX_STDERR);
		});
		child.stdin.on("error", () => {}); // it may answer without reading to the end
		child.on("close", (status, by) =>
			settle(() => {
				if (status !== 0) {
					const said = err.trim();
					return reject(new Error(`${PROGRAM} ended with ${by ?? `status ${status}`}${said ? `: ${said}` : ""}`));
				}
				try {
					resolve(read(out));
				} catch (error) {
					reject(new Error(`${PROGRAM} gave no usable answer: ${text(error)}`));
				}
			}),
		);
		child.stdin.write(`${JSON.stringify(question)}\n`);
		// While checks run, the open pipe tells the program that Pi is there: it ends with Pi, however
		// that ends.
		if (event !== "before-finish") child.stdin.end();
	});
}

function text(error: unknown): string {
	return error instanceof Error ? error.message : String(error);
}

/** What a rewrite took from a call, or nothing. Pi does not look at the arguments again, and would run a tool without them. */
function lost(before: Record<string, unknown>, after: Record<string, unknown>): string | undefined {
	return Object.keys(before).find((key) => before[key] !== undefined && kind(after[key]) !== kind(before[key]));
}

export default function (pi: ExtensionAPI) {
	const run = randomUUID();
	let messages = 0; // of the person; with `run` it names the turn, so that no earlier approval fits
	let continues = 0; // how often the agent was sent back since the last one
	let introduction: string | undefined; // for the agent's first turn
	let decidedAtTurnEnd = false;
	const guidance = new Map<string, string[]>(); // by the id of the call whose result the agent reads
	const awaited = new Set<string>(); // ids of calls whose results are asked about
	const said = new Set<string>(); // notices since the person's last message

	const tell = (ctx: ExtensionContext, notice: string | undefined, level: "info" | "error" = "info") => {
		if (!notice || said.has(notice)) return;
		said.add(notice);
		if (ctx.hasUI) ctx.ui.notify(notice, level);
		else console.error(notice); // stdout is the client's
	};

	const question = (event: string, ctx: ExtensionContext, seconds: number, fields: object, signal?: AbortSignal) =>
		ask(
			event,
			{
				session_id: ctx.sessionManager.getSessionId(),
				turn_id: `${run}/${messages}`,
				cwd: ctx.cwd,
				trusted: ctx.isProjectTrusted(),
				...fields,
			},
			seconds,
			signal,
		).then((answer) => {
			tell(ctx, answer.notice ?? answer.systemMessage);
			return answer;
		});

	/** A question that holds nothing up when it fails: the person is told. */
	const inform = async (event: string, ctx: ExtensionContext, fields: object): Promise<Answer> => {
		try {
			return await question(event, ctx, SECONDS.message, fields);
		} catch (error) {
			tell(ctx, `i-insist: ${text(error)}`, "error");
			return {};
		}
	};

	pi.on("session_start", async (event, ctx) => {
		guidance.clear();
		awaited.clear();
		said.clear();
		continues = 0;
		// A new process says "startup" also when it goes on with an old session.
		const resumed = ctx.sessionManager.getEntries().some((entry) => entry.type === "message");
		const reason = event.reason === "startup" && resumed ? "resume" : event.reason;
		introduction = (await inform("session-start", ctx, { hook_event_name: "SessionStart", reason })).guidance;
	});

	pi.on("before_agent_start", () => {
		const content = introduction;
		introduction = undefined;
		if (content) return { message: { customType: "i-insist", content, display: false } };
	});

	pi.on("input", async (event, ctx) => {
		if (event.source === "extension") return; // no person's words
		messages += 1;
		continues = 0;
		said.clear();
		await inform("user-prompt-submit", ctx, {
			hook_event_name: "UserPromptSubmit",
			prompt: event.text,
			source: event.source,
			nested: process.env.PI_SESSION_ID !== undefined, // we run in the shell of another Pi
		});
	});

	pi.on("tool_call", async (event, ctx) => {
		decidedAtTurnEnd = false;
		try {
			const answer = await question(
				"pre-tool-use",
				ctx,
				SECONDS.tool,
				{
					hook_event_name: "PreToolUse",
					tool_name: event.toolName,
					tool_call_id: event.toolCallId,
					tool_input: event.input,
				},
				ctx.signal,
			);
			if (answer.decision === "block") return { block: true, reason: answer.reason ?? "Blocked by i-insist." };
			if (answer.input) {
				const input = event.input as Record<string, unknown>;
				const field = lost(input, answer.input);
				if (field !== undefined) throw new Error(`the rewritten call has no usable ${field}`);
				// Pi goes on with the same object.
				for (const key of Object.keys(input)) delete input[key];
				Object.assign(input, answer.input);
			}
			if (answer.guidance) {
				// What a script's own call returns the script reads; the agent reads the script's result.
				const id = event.parentToolCallId ? event.toolCallId.split("/", 1)[0] : event.toolCallId;
				guidance.set(id, [...(guidance.get(id) ?? []), answer.guidance]);
			}
			if (answer.after) awaited.add(event.toolCallId);
		} catch (error) {
			return { block: true, reason: `i-insist could not decide on this call, so it was not run: ${text(error)}` };
		}
	});

	pi.on("tool_result", async (event, ctx) => {
		const texts = guidance.get(event.toolCallId) ?? [];
		guidance.delete(event.toolCallId);
		if (awaited.delete(event.toolCallId)) {
			try {
				const answer = await question(
					"post-tool-use",
					ctx,
					SECONDS.tool,
					{
						hook_event_name: "PostToolUse",
						tool_name: event.toolName,
						tool_call_id: event.toolCallId,
						tool_input: event.input,
						tool_output: event.content.map((part) => (part.type === "text" ? part.text : `[${part.type}]`)).join("\n"),
						is_error: event.isError,
					},
					ctx.signal,
				);
				if (answer.guidance) texts.push(answer.guidance);
			} catch (error) {
				tell(ctx, `i-insist: ${text(error)}`, "error");
			}
		}
		if (texts.length === 0) return;
		return {
			content: [...event.content, { type: "text" as const, text: texts.join("\n\n") }],
			// New content alone would drop the structured result.
			...(event.structuredContent === undefined ? {} : { structuredContent: event.structuredContent }),
		};
	});

	/** Runs the checks; what the agent is told if it has to go on. */
	const beforeFinish = async (ctx: ExtensionContext): Promise<string | undefined> => {
		if (ctx.hasUI) ctx.ui.setStatus("i-insist", "i-insist: checks are running");
		try {
			const fields = { hook_event_name: "BeforeFinish", continues, held_open: true };
			const answer = await question("before-finish", ctx, SECONDS.finish, fields, ctx.signal);
			if (!answer.continue) return undefined;
			continues += 1;
			return answer.message ?? "i-insist: a check failed.";
		} catch (error) {
			// The agent cannot mend this, and the person who stopped it knows.
			if (!ctx.signal?.aborted) tell(ctx, `i-insist: the checks did not run: ${text(error)}`, "error");
			return undefined;
		} finally {
			if (ctx.hasUI) ctx.ui.setStatus("i-insist", undefined);
		}
	};

	const sentBack = <Entry>(entries: Entry[], content: string) => ({
		entries: [...entries, { type: "custom_message" as const, customType: "i-insist", content, display: true }],
		continue: true,
	});

	// The end of a run, as seen from within: here the person's Esc reaches a running check.
	pi.on("turn_end", async (event, ctx) => {
		decidedAtTurnEnd = false;
		const goesOn = event.continue || event.toolResults.length > 0 || event.context.pendingMessages.length > 0;
		if (event.outcome !== "completed" || goesOn) return;
		decidedAtTurnEnd = true;
		const message = await beforeFinish(ctx);
		if (message !== undefined) return sentBack(event.entries, message);
	});

	// Ends that do not look like one there: a tool that ends the run, a queue that was cleared.
	pi.on("agent_before_settle", async (event, ctx) => {
		if (decidedAtTurnEnd || event.outcome !== "completed" || event.continue) return;
		const message = await beforeFinish(ctx);
		if (message !== undefined) return sentBack(event.entries, message);
	});

	pi.on("session_shutdown", () => {
		for (const stop of [...running]) stop("Pi is shutting down");
	});
}

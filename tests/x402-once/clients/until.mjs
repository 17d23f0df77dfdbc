// What every client here does: it wants the new answer of URL, and calls until it has that, at most CALLS times. Prints how
// often it called and whether it was answered. What a call throws goes to standard error.

const PAUSE_MS = 1_200;

export async function callUntilAnswered(get) {
  let calls = 0;
  let answered = false;
  while (!answered && calls < Number(process.env.CALLS)) {
    if (calls > 0) await new Promise((done) => setTimeout(done, PAUSE_MS));
    calls += 1;
    try {
      const response = await get(process.env.URL);
      answered = response.status === 200 && (await response.json()).answer === 'new';
      if (!answered) console.error(`call ${calls}: status ${response.status}`);
    } catch (thrown) {
      console.error(`call ${calls}: ${thrown.code ?? thrown.name}: ${thrown.message}`);
    }
  }
  console.log(JSON.stringify({ calls, answered }));
  process.exit(0);
}

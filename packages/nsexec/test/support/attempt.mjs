// Launches the session of the options in argv[2] from the built package, and prints how it failed as JSON.
import { buildSessionPlan, launchSession } from "../../dist/index.js";

try {
  const session = await launchSession(buildSessionPlan(JSON.parse(process.argv[2])).plan);
  await session.abort();
  console.log(JSON.stringify({ launched: true }));
} catch (error) {
  console.log(JSON.stringify({ ...error, message: error.message }));
}

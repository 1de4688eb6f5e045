import { render } from "preact";
import { App } from "./app";
import { connect } from "./stream";
import "./style.css";

connect();
render(<App />, document.getElementById("app")!);

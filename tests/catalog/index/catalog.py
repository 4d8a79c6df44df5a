"""A small catalog that the search tests share."""

from toolcrib.catalog.index import Entry, Kind


def parameters(**described: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": text} for name, text in described.items()},
    }


CATALOG = [
    Entry("github.create_pull_request", "Open a pull request in a repository.", aliases=("OpenPR",)),
    Entry("github.create_issue", "Report a new issue in a repository."),
    Entry("gitlab.create_issue", "Report a new issue in a project."),
    Entry("github.list_commits", "List the commits of a branch."),
    Entry("code.read_file", "Read a file.", aliases=("FileRead", "cat"), category="FileSystem"),
    Entry("code.write_file", "Write text to a file.", category="FileSystem"),
    Entry("code.delete_file", "Delete a file.", category="FileSystem"),
    Entry("weather.current", "Current weather of a city.", input_schema=parameters(city="Name of the city")),
    Entry("weather.forecast", "Forecast of temperature and rain for a city.", tags=("meteorology",)),
    Entry(
        "mail.send", "Send an email.", input_schema=parameters(recipient="Address of the addressee", body="The text")
    ),
    Entry("calc.add", "Add two numbers."),
    Entry("clock.now", "The time in a time zone.", metadata={"family": "chronometry", "toolkit": "Everyday"}),
    Entry("web.hook", "Call an address when something happens."),
    Entry("translate", "Translate text into another language.", title="Polyglot"),
    Entry("review-code", "How to review a change.", kind=Kind.SKILL),
    Entry("researcher", "Agent that investigates a question on the web.", kind=Kind.AGENT),
]

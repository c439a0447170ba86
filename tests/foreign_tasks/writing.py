"""One task as a family."""

from __future__ import annotations

from evolake.families.model.contract import Answer, Family


def task(
    name: str,
    category: str,
    answer: str,
    *,
    generator: str,
    template: str,
    reader: str,
    validators: tuple[str, str, str],
    checkers: dict[str, str] | None = None,
) -> Family:
    """The family; validators: the primary and two others."""
    primary, first, second = (source.lstrip("\n") for source in validators)
    return Family(
        name=name,
        title=name.replace("-", " "),
        category=category,
        language="en",
        generator=generator.lstrip("\n"),
        template=template.lstrip("\n"),
        validator=primary,
        validators={"first": first, "second": second},
        reader=reader.lstrip("\n"),
        answer=Answer(answer),
        checkers=checkers or {},  # type: ignore[arg-type]
    )
